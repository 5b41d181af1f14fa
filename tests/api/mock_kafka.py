"""A Kafka cluster for tests: the mock inside librdkafka, which real clients can reach."""

import ctypes
import json

_PRODUCER, _CONSUMER = 0, 1
_BEGINNING = -2


class _Message(ctypes.Structure):
    _fields_ = [("err", ctypes.c_int), ("topic", ctypes.c_void_p), ("partition", ctypes.c_int32),
                ("payload", ctypes.c_void_p), ("len", ctypes.c_size_t), ("key", ctypes.c_void_p),
                ("key_len", ctypes.c_size_t), ("offset", ctypes.c_int64),
                ("private", ctypes.c_void_p)]


def _load():
    lib = ctypes.CDLL("librdkafka.so.1")
    pointer, text, number, size = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int,
                                   ctypes.c_size_t)
    signatures = {
        "conf_new": (pointer, []),
        "conf_set": (number, [pointer, text, text, text, size]),
        "new": (pointer, [number, pointer, text, size]),
        "destroy": (None, [pointer]),
        "mock_cluster_new": (pointer, [pointer, number]),
        "mock_cluster_destroy": (None, [pointer]),
        "mock_cluster_bootstraps": (text, [pointer]),
        "mock_topic_create": (number, [pointer, text, number, number]),
        "mock_broker_set_down": (number, [pointer, ctypes.c_int32]),
        "mock_broker_set_up": (number, [pointer, ctypes.c_int32]),
        "mock_push_request_errors_array": (None, [pointer, ctypes.c_int16, size, pointer]),
        "topic_partition_list_new": (pointer, [number]),
        "topic_partition_list_add": (pointer, [pointer, text, ctypes.c_int32]),
        "topic_partition_list_set_offset": (number, [pointer, text, ctypes.c_int32,
                                                     ctypes.c_int64]),
        "topic_partition_list_destroy": (None, [pointer]),
        "poll_set_consumer": (number, [pointer]),
        "assign": (number, [pointer, pointer]),
        "consumer_poll": (ctypes.POINTER(_Message), [pointer, number]),
        "consumer_close": (number, [pointer]),
        "message_destroy": (None, [ctypes.POINTER(_Message)]),
    }
    calls = {}
    for name, (result, arguments) in signatures.items():
        call = getattr(lib, "rd_kafka_" + name)
        call.restype, call.argtypes = result, arguments
        calls[name] = call
    return type("Calls", (), {k: staticmethod(v) for k, v in calls.items()})


class MockKafka:
    """Topics have one partition, so that everything is read in the order of writing."""

    def __init__(self):
        self.calls = _load()
        self.client = self._client(_PRODUCER, {"bootstrap.servers": "none:1", "log_level": "0"})
        self.cluster = self.calls.mock_cluster_new(self.client, 1)
        self.brokers = self.calls.mock_cluster_bootstraps(self.cluster).decode()

    def _client(self, kind, settings):
        conf = self.calls.conf_new()
        for name, value in settings.items():
            assert self.calls.conf_set(conf, name.encode(), value.encode(), None, 0) == 0
        client = self.calls.new(kind, conf, None, 0)
        assert client
        return client

    def create(self, *topics):
        for topic in topics:
            assert self.calls.mock_topic_create(self.cluster, topic.encode(), 1, 1) == 0

    def down(self):
        self.calls.mock_broker_set_down(self.cluster, 1)

    def up(self):
        self.calls.mock_broker_set_up(self.cluster, 1)

    def refuse_next(self):
        """The next request to write is answered with MSG_SIZE_TOO_LARGE."""
        self.calls.mock_push_request_errors_array(self.cluster, 0, 1,
                                                  ctypes.byref(ctypes.c_int(10)))

    def read(self, topic, wait_s=5, enough=lambda messages: False):
        """(key, value) of all messages: until there are enough, else as long as it says."""
        reader = self._client(_CONSUMER, {"bootstrap.servers": self.brokers, "group.id": "test",
                                          "log_level": "0"})
        self.calls.poll_set_consumer(reader)
        place = self.calls.topic_partition_list_new(1)
        self.calls.topic_partition_list_add(place, topic.encode(), 0)
        self.calls.topic_partition_list_set_offset(place, topic.encode(), 0, _BEGINNING)
        assert self.calls.assign(reader, place) == 0
        self.calls.topic_partition_list_destroy(place)
        messages = []
        for _ in range(wait_s * 20):
            message = self.calls.consumer_poll(reader, 50)
            if message:
                if message.contents.err == 0:
                    messages.append(self._parts(message.contents))
                self.calls.message_destroy(message)
            if enough(messages):
                break
        self.calls.consumer_close(reader)
        self.calls.destroy(reader)
        return messages

    @staticmethod
    def _parts(message):
        key = ctypes.string_at(message.key, message.key_len).decode()
        return key, json.loads(ctypes.string_at(message.payload, message.len))

    def close(self):
        self.calls.mock_cluster_destroy(self.cluster)
        self.calls.destroy(self.client)
