"""What could not be read of a topic is said until the next message of it, and a moment longer."""

from safe_sysid.errors import MessageError
from safe_sysid.ros.messages.unread_messages import LASTS, UnreadMessages


class Topics:
    """Two topics whose messages are complaints about themselves; '' can be read."""

    def __init__(self):
        self.now, self.taken = 0.0, []
        self.unread = UnreadMessages(lambda: self.now)
        self.plan = self.unread.reading('plan', self._take)
        self.estimate = self.unread.reading('estimate', self._take)

    def _take(self, msg):
        if msg:
            raise MessageError(msg)
        self.taken.append(msg)


def test_what_can_be_read_is_no_trouble():
    topics = Topics()
    topics.plan('')
    assert (topics.unread.trouble, topics.taken) == ('', [''])


def test_a_complaint_stays_until_a_message_of_its_topic_is_read_and_can_be_seen_then():
    topics = Topics()
    topics.plan('no joints')
    topics.now = 100.0
    topics.estimate('')
    assert topics.unread.trouble == 'no joints'
    topics.plan('')
    topics.now += 0.9 * LASTS
    topics.plan('')  # does not prolong it
    assert topics.unread.trouble == 'no joints'
    topics.now += 0.2 * LASTS
    assert topics.unread.trouble == ''


def test_each_topic_has_its_newest_complaint():
    topics = Topics()
    for complaint in ('no joints', 'no points'):
        topics.plan(complaint)
    topics.estimate('of another arm')
    assert topics.unread.trouble == 'no points; of another arm'
