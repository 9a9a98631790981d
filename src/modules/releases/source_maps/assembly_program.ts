/** Program of the thread of `AssemblyThread`: unpacks the files of an upload and converts them to what is stored. */
import { createHash } from 'node:crypto';
import zlib from 'node:zlib';

import { CODE_BYTES_MAX } from '#modules/releases/decide/source_maps/function_ranges.ts';
import { withFunctions } from '#modules/releases/decide/source_maps/original_code.ts';
import {
  BadSourceMap,
  readSourceMap,
  SOURCE_MAP_LIMITS,
  type StoredMap,
} from '#modules/releases/decide/source_maps/source_map.ts';
import { withoutUploadLine } from '#modules/releases/decide/source_maps/upload_line.ts';
import { freeBytes, ThreadGarbage } from '#kernel/free_bytes.ts';
import { answerInThread, lowerThreadPriority } from '#kernel/threads/own_thread.ts';
import { runWithTimeLimit, TimeLimitExceeded } from '#kernel/threads/run_with_time_limit.ts';
import type { AssemblyAnswer, AssemblyQuestion } from '#modules/releases/source_maps/assembly_thread.ts';
import { MANIFEST_BYTES_MAX, MAPS_MAX, readManifest } from '#modules/releases/source_maps/bundle_manifest.ts';
import { BadUpload, chunkSizeFor, type PackedFile, unpack } from '#modules/releases/source_maps/zip_archive.ts';

/** Time limit for one map and the code that belongs to it: real ones of the largest size take a second. */
const READ_MS_MAX = 5_000;
/** Niceness of the thread: a build can wait for minutes; events and their pages cannot. */
const NICENESS = 10;

const garbage = new ThreadGarbage();
/** Bytes unpacked for the current question. */
let unpackedBytes = 0;

function answer(question: AssemblyQuestion): AssemblyAnswer {
  unpackedBytes = 0;
  try {
    return question.kind === 'manifest' ? readCodes(question.manifest) : store(readMap(question.map, question.code));
  } catch (error) {
    if (!isFileFault(error)) throw error;
    return { kind: 'fault', message: error.message, unpackedBytes };
  }
}

function isFileFault(error: unknown): error is Error {
  return error instanceof BadSourceMap || error instanceof BadUpload || error instanceof TimeLimitExceeded;
}

function readCodes(manifest: PackedFile): AssemblyAnswer {
  const text = textOf(manifest, MANIFEST_BYTES_MAX);
  const codes = runWithTimeLimit(READ_MS_MAX, () => readManifest(text));
  return { kind: 'manifest', codes: codes.slice(0, MAPS_MAX), total: codes.length };
}

function readMap(packed: PackedFile, packedCode: PackedFile | null): StoredMap {
  const map = readUploaded(packed);
  garbage.look();
  if (packedCode === null) return { ...map, functions: [] };
  const uploaded = textOf(packedCode, SOURCE_MAP_LIMITS.bytesMax);
  const { code, mappings } = withoutUploadLine({ path: packedCode.name, code: uploaded, mappings: map.mappings });
  const stored = { ...map, mappings, functions: [] };
  if (uploaded.length > CODE_BYTES_MAX) return stored;
  try {
    return runWithTimeLimit(READ_MS_MAX, () => withFunctions(stored, code));
  } catch (error) {
    if (error instanceof TimeLimitExceeded || error instanceof RangeError) return stored;
    throw error;
  }
}

/** Leaves nothing of the text in use. */
function readUploaded(packed: PackedFile): Omit<StoredMap, 'functions'> {
  const text = textOf(packed, SOURCE_MAP_LIMITS.bytesMax);
  return runWithTimeLimit(READ_MS_MAX, () => readSourceMap(text));
}

function textOf(packed: PackedFile, bytesMax: number): string {
  const bytes = unpack(packed, bytesMax);
  unpackedBytes += bytes.length;
  const text = bytes.toString('utf8');
  freeBytes(bytes);
  return text;
}

function store(map: StoredMap): AssemblyAnswer {
  const bytes = bytesOf(map);
  garbage.look();
  const hash = createHash('sha256').update(bytes).digest('hex');
  const size = bytes.length;
  const packed = zlib.zstdCompressSync(bytes, { chunkSize: chunkSizeFor(size) });
  freeBytes(bytes);
  // Only what it holds is copied to the other thread, not the memory that it was made in.
  const content = new Uint8Array(packed);
  freeBytes(packed);
  return { kind: 'map', hash, size, content, unpackedBytes };
}

function bytesOf(map: StoredMap): Buffer {
  return Buffer.from(JSON.stringify(map));
}

lowerThreadPriority(NICENESS);
answerInThread(answer, garbage);
