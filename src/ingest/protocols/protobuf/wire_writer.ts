import { WIRE } from '#ingest/protocols/protobuf/wire_reader.ts';

/** A non-negative integer up to 2^53. */
export function encodeVarint(field: number, value: number): Buffer {
  return Buffer.from([...varint(field * 8 + WIRE.varint), ...varint(value)]);
}

/** A string, or a submessage that is encoded already. */
export function encodeBytes(field: number, value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([...varint(field * 8 + WIRE.bytes), ...varint(bytes.length)]), bytes]);
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) + 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
  return bytes;
}
