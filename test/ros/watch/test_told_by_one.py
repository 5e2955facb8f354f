"""Two names on one topic are told, a process that was started again is not."""

from types import SimpleNamespace

from safe_sysid.ros.watch.told_by_one import ToldByOne


class Graph:
    """Publishers by hand."""

    def __init__(self, *names):
        self.names = names

    def get_publishers_info_by_topic(self, topic):
        assert topic == 'parameter_estimate'
        parts = [name.rpartition('/') for name in self.names]
        return [SimpleNamespace(node_namespace=space or '/', node_name=n) for space, _, n in parts]


def test_several_names_are_told_once_they_last():
    graph = Graph('/left/identifier', '/left/identifier')
    watch = ToldByOne(graph, 'parameter_estimate')
    assert watch.trouble(0.0) == watch.trouble(9.0) == ''
    graph.names = ('/left/identifier', '/left/_NODE_NAME_UNKNOWN_')
    assert watch.trouble(10.0) == watch.trouble(10.9) == ''
    graph.names = ('/left/identifier',)
    assert watch.trouble(11.5) == ''
    graph.names = ('/left/identifier', '/somebody')
    assert watch.trouble(12.0) == watch.trouble(12.9) == ''
    assert watch.trouble(13.1) == (
        'parameter_estimate is published by /left/identifier and /somebody; one of them is to be '
        'ended'
    )
    graph.names = ('/somebody',)
    assert watch.trouble(13.2) == ''
    graph.names = ()
    assert watch.trouble(14.2) == ''
