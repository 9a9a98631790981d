import type { FamilyTypes } from '#ingest/protocols/prometheus/counter_names.ts';
import type { Steps } from '#ingest/protocols/body/steps.ts';
import { decodeText } from '#ingest/protocols/protobuf/decode_text.ts';
import { WIRE, type WireReader } from '#ingest/protocols/protobuf/wire_reader.ts';

/** What must be known about a request before its series are decoded. */
export interface RequestScan {
  /** Metadata follows the series that it describes. */
  readonly types: FamilyTypes;
  /** The number of series. */
  readonly series: number;
}

const PAUSE_AFTER = 65_536;

/** Skims a request and returns to its start. */
export function* scanRequest(reader: WireReader, mayPause: boolean): Steps<RequestScan> {
  const end = reader.bytes.length;
  const types = new Map<string, number>();
  let series = 0;
  for (let fields = 1; reader.nextField(end); fields += 1) {
    if (mayPause && fields % PAUSE_AFTER === 0) yield;
    if (reader.is(3, WIRE.bytes)) readMetadata(reader, reader.message(end), types);
    else {
      if (reader.is(1, WIRE.bytes)) series += 1;
      reader.skip(end);
    }
  }
  reader.pos = 0;
  return { types, series };
}

function readMetadata(reader: WireReader, end: number, types: Map<string, number>): void {
  let type = 0;
  let family: string | null = null;
  while (reader.nextField(end)) {
    if (reader.is(1, WIRE.varint)) type = reader.varint(end);
    else if (reader.is(2, WIRE.bytes)) {
      const familyEnd = reader.message(end);
      family = decodeText(reader.bytes, reader.pos, familyEnd);
      reader.pos = familyEnd;
    } else reader.skip(end);
  }
  if (family !== null) types.set(family, type);
}
