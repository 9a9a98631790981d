import type { FamilyTypes } from '#ingest/protocols/prometheus/counter_names.ts';
import type { Steps } from '#ingest/protocols/body/steps.ts';
import { decodeText } from '#ingest/protocols/protobuf/decode_text.ts';
import { WIRE, type WireReader } from '#ingest/protocols/protobuf/wire_reader.ts';

/** What is to be known of a request before its series are read. */
export interface Survey {
  /** Metadata is written behind the series that it speaks of. */
  readonly types: FamilyTypes;
  /** How many there are. */
  readonly series: number;
}

const REST_AFTER = 65_536;

/** Passes over a request and goes back to its beginning. */
export function* surveyRequest(reader: WireReader, mayRest: boolean): Steps<Survey> {
  const end = reader.bytes.length;
  const types = new Map<string, number>();
  let series = 0;
  for (let fields = 1; reader.nextField(end); fields += 1) {
    if (mayRest && fields % REST_AFTER === 0) yield;
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
