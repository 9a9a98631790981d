import type { Steps } from '#kernel/cooperative_task.ts';
import { decodeText, WIRE, type WireReader } from '#ingest/protocols/body/protobuf_wire.ts';

/** Facts about a request that are needed before its series are decoded. */
export interface RequestScan {
  readonly series: number;
}

type AnnounceType = (family: string, type: number, unit: string) => void;

/** Limit on the size of a series: twice that of one with the most labels and samples that a request may have. */
export const SERIES_BYTES_MAX = 4 * 1024 * 1024;

const PAUSE_AFTER = 65_536;

/** Skims a request for what it says of types, wherever it stands, and returns to its start. */
export function* scanRequest(reader: WireReader, mayPause: boolean, announceType: AnnounceType): Steps<RequestScan> {
  const end = reader.bytes.length;
  let series = 0;
  for (let fields = 1; reader.nextField(end); fields += 1) {
    if (mayPause && fields % PAUSE_AFTER === 0) yield;
    if (reader.is(3, WIRE.bytes)) readMetadata(reader, reader.message(end), announceType);
    else {
      if (reader.is(1, WIRE.bytes)) series += 1;
      reader.skip(end);
    }
  }
  reader.pos = 0;
  return { series };
}

function readMetadata(reader: WireReader, end: number, announceType: AnnounceType): void {
  let type = 0;
  let family: string | null = null;
  let unit = '';
  while (reader.nextField(end)) {
    if (reader.is(1, WIRE.varint)) type = reader.varint(end);
    else if (reader.is(2, WIRE.bytes)) {
      const familyEnd = reader.message(end);
      family = decodeText(reader.bytes, reader.pos, familyEnd);
      reader.pos = familyEnd;
    } else if (reader.is(5, WIRE.bytes)) {
      const unitEnd = reader.message(end);
      unit = decodeText(reader.bytes, reader.pos, unitEnd) ?? '';
      reader.pos = unitEnd;
    } else reader.skip(end);
  }
  if (family !== null && type !== 0) announceType(family, type, unit);
}
