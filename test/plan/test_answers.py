"""In lockstep an answer that got lost is given again, and another mode wants another one."""

from safe_sysid.plan.answers import Answers


def answers_with(stamp, mode):
    answers = Answers()
    answers.note(stamp, mode)
    return answers


def test_before_the_first_answer_every_sample_lacks_one():
    assert not Answers().has(5, 'task')
    assert Answers().lacks(5, 'task')


def test_an_answer_that_is_asked_for_again_is_there():
    answers = answers_with(5, 'task')
    assert answers.has(5, 'task')
    assert not answers.lacks(5, 'task')


def test_the_sample_answered_last_lacks_an_answer_in_another_mode():
    for answers, mode in ((answers_with(5, 'exciting'), 'task'), (answers_with(5, ''), 'idle')):
        assert not answers.has(5, mode)
        assert answers.lacks(5, mode)


def test_a_sample_that_is_newer_than_the_last_answer_lacks_one():
    answers = answers_with(5, 'task')
    assert not answers.has(6, 'task')
    assert answers.lacks(6, 'task')


def test_nobody_waits_for_an_answer_to_an_older_sample():
    answers = answers_with(5, 'task')
    for mode in ('task', 'exciting'):
        assert not answers.has(4, mode)
        assert not answers.lacks(4, mode)


def test_the_newest_answer_is_the_one_that_counts():
    answers = answers_with(5, 'task')
    answers.note(6, 'task')
    assert answers.has(6, 'task')
    assert not answers.has(5, 'task')
    assert not answers.lacks(5, 'task')
