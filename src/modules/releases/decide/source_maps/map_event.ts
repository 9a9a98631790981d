import type { ExceptionEvent, ExceptionValue, Frame } from '#modules/exceptions/decide/event.ts';
import { uploadedAddresses } from '#modules/releases/decide/source_maps/code_address.ts';
import type { OriginalCode } from '#modules/releases/decide/source_maps/original_code.ts';

/** Code whose source map may be known. */
export interface RunCode {
  /** Path as it stands in frames. */
  readonly path: string;
  readonly debugId: string | null;
  /** Addresses, the most exact first. */
  readonly addresses: readonly string[];
}

/** Lookup of the origin of places in code that runs. */
export type PlacedCode = Pick<OriginalCode, 'find'>;

const PLATFORMS = /^(?:javascript|node|bun|deno|react-native|cocoa|android|other)\b/;
/** Limit on the files whose source maps are looked up. */
const FILES_MAX = 30;

/** Returns the files of an event that are to be looked up. Frames that are mapped already need none. */
export function codeOf(event: ExceptionEvent): readonly RunCode[] {
  const debugIds = event.debugIds ?? {};
  if (event.release === null && Object.keys(debugIds).length === 0) return [];
  if (!PLATFORMS.test(event.platform)) return [];
  const codes = new Map<string, RunCode>();
  for (const frame of framesOf(event)) {
    const path = pathOf(frame);
    if (path === null || codes.has(path)) continue;
    const debugId = debugIds[path] ?? null;
    const addresses = event.release === null ? [] : uploadedAddresses(path);
    if (debugId !== null || addresses.length > 0) codes.set(path, { path, debugId, addresses });
    if (codes.size >= FILES_MAX) break;
  }
  return [...codes.values()];
}

/**
 * Returns the event as its source has it: function, file, line and the lines around it of each frame whose code has a
 * map. The fields that the client sent of the frame are kept beside it.
 */
export function mapEvent(event: ExceptionEvent, codeAt: (path: string) => PlacedCode | null): ExceptionEvent {
  const mapFrames = (frames: readonly Frame[]): readonly Frame[] =>
    frames.map((frame) => {
      const path = pathOf(frame);
      const code = path === null ? null : codeAt(path);
      return code === null ? frame : mapFrame(frame, code);
    });
  return {
    ...event,
    exceptions: event.exceptions.map((exception): ExceptionValue => {
      return exception.frames.length === 0 ? exception : { ...exception, frames: mapFrames(exception.frames) };
    }),
    thread: event.thread && { ...event.thread, frames: mapFrames(event.thread.frames) },
    stacktrace: mapFrames(event.stacktrace),
  };
}

function* framesOf(event: ExceptionEvent): Iterable<Frame> {
  for (const { frames } of event.exceptions) yield* frames;
  yield* event.thread?.frames ?? [];
  yield* event.stacktrace;
}

/** Returns the path of a frame's code; null when the frame gives no exact position, or is mapped already. */
function pathOf({ absPath, filename, lineno, colno, generated }: Frame): string | null {
  return lineno === null || colno === null || generated !== undefined ? null : (absPath ?? filename);
}

const INSTALLED = /(?:^|\/)(?:node_modules|bower_components|webpack\/(?:bootstrap|runtime))(?:\/|$)/;

function mapFrame(frame: Frame, code: PlacedCode): Frame {
  const { lineno, colno } = frame;
  const place = lineno === null || colno === null ? null : code.find(lineno, colno);
  if (place === null) return frame;
  const isForeign = place.isIgnored || INSTALLED.test(place.file);
  return {
    ...frame,
    function: place.functionName,
    module: null,
    filename: place.file,
    absPath: place.file,
    lineno: place.line,
    colno: place.column,
    contextLine: place.contextLine,
    preContext: place.preContext,
    postContext: place.postContext,
    inApp: isForeign ? false : frame.inApp,
    generated: {
      function: frame.function,
      filename: frame.filename,
      absPath: frame.absPath,
      lineno: frame.lineno,
      colno: frame.colno,
    },
  };
}
