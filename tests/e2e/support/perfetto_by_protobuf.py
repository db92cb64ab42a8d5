"""Reads traces of Perfetto by Google's protobuf library, whose messages are made from the field numbers of perfetto_reader.py, and
says where it and that reader differ. Run by a Python that has google.protobuf: perfetto_by_protobuf.py <trace>..."""

import pathlib
import sys

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from perfetto_reader import SCHEMA, decode

Field = descriptor_pb2.FieldDescriptorProto
TYPES = {"uint": Field.TYPE_UINT64, "double": Field.TYPE_DOUBLE, "fixed64": Field.TYPE_FIXED64, "text": Field.TYPE_STRING}


def trace_class():
    file = descriptor_pb2.FileDescriptorProto(name="trace.proto", package="p", syntax="proto2")
    for message, fields in SCHEMA.items():
        made = file.message_type.add(name=message)
        for number, (name, kind) in fields.items():
            field = made.field.add(name=name, number=number, label=Field.LABEL_REPEATED, type=TYPES.get(kind, Field.TYPE_MESSAGE))
            if kind not in TYPES:
                field.type_name = f".p.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName("p.Trace"))


def as_lists(message):
    """As perfetto_reader.decode() has it."""
    if len(message.UnknownFields()) > 0:
        raise ValueError(f"{message.DESCRIPTOR.name} has fields that nobody knows")
    return {
        field.name: [as_lists(one) if field.message_type else one for one in values] for field, values in message.ListFields()
    }


def main(paths):
    Trace = trace_class()
    for path in paths:
        data = pathlib.Path(path).read_bytes()
        packets = as_lists(Trace.FromString(data))["packet"]
        if packets != decode("Trace", data)["packet"]:
            sys.exit(f"{path}: protobuf and perfetto_reader.py read different packets")
        print(len(packets))


if __name__ == "__main__":
    main(sys.argv[1:])
