import type { ExceptionEvent, Frame } from '#modules/exceptions/decide/event.ts';
import { reportedException } from '#modules/exceptions/decide/event.ts';
import { stableFile, stableFunction, stableModule } from '#modules/exceptions/decide/grouping_v2/generated_names.ts';

/** Paths of the language's own runtime: never application code, even if an old client says so. */
const RUNTIME_PATH =
  /^node:|^internal\/|(?:^|\/)<frozen |^native$|\[native code\]|\/lib\/python\d(?:\.\d+)?\/(?!(?:site|dist)-packages\/)|\/(?:usr\/(?:local|lib)|opt)\/go[^/]*\/src\/|\/lib\/ruby\/\d[\d.]*\/|^<internal:/;
const RUNTIME_MODULE = /^(?:java|javax|jdk|sun|com\.sun|kotlin|scala|System|Microsoft)\./;

/** Paths of installed packages: not the application unless the client insists. */
const PACKAGE_PATH =
  /(?:^|\/)(?:node_modules|site-packages|dist-packages|vendor|gems|bower_components|\.cargo|\.pub-cache|pkg\/mod|webpack\/(?:bootstrap|runtime))(?:\/|$)|^(?:webpack|chrome-extension|moz-extension|safari-extension|safari-web-extension):\/\/\/?(?:external|$|[a-z0-9-]{20,})/;
const PACKAGE_MODULE =
  /^(?:org\.(?:springframework|apache|hibernate|eclipse|jboss|junit|postgresql|slf4j)|com\.(?:fasterxml|mysql|zaxxer|google\.common)|io\.(?:netty|grpc|micrometer|vertx)|reactor|kotlinx|androidx|android|groovy|akka|play|io\.sentry|sentry_sdk|Sentry)\.|^(?:runtime|reflect|net\/http|testing)$/;

/** Whether the frame is code of the application itself, rather than of its language or the packages it uses. */
export function isInApp(frame: Frame): boolean {
  if (frame.inApp === false) return false;
  const path = (frame.absPath ?? frame.filename ?? '').replaceAll('\\', '/');
  const module = frame.module ?? '';
  if (RUNTIME_PATH.test(path) || RUNTIME_MODULE.test(module)) return false;
  return frame.inApp === true || !(PACKAGE_PATH.test(path) || PACKAGE_MODULE.test(module));
}

/** Languages whose clients send the source line as it was written. */
const WRITTEN_LINES = /^(?:javascript|node|bun|deno|python|php|ruby)\b/;

/** Longest context line that counts. Longer ones are from bundles; the part that clients send depends on the column. */
const CONTEXT_LENGTH_MAX = 120;

/**
 * Returns the part of a group's key that comes from a frame, as a readable line: `views in checkout: raise
 * CardDeclined(card)`. It never depends on line numbers, builds or machines. Null when nothing in the frame is stable.
 */
function frameIdentity(frame: Frame, platform: string): string | null {
  const where = stableModule(frame.module) ?? stableFile(frame.filename) ?? stableFile(frame.absPath);
  const name = stableFunction(frame.function);
  const line = contextIdentity(frame, platform);
  const place = [where, name].filter((part) => part !== null).join(' in ');
  const parts = [place, line ?? ''].filter((part) => part !== '');
  return parts.length === 0 ? null : parts.join(': ');
}

function contextIdentity(frame: Frame, platform: string): string | null {
  if (frame.contextLine === null || !WRITTEN_LINES.test(platform)) return null;
  const line = frame.contextLine.trim().replaceAll(/\s+/g, ' ');
  return line === '' || line.length > CONTEXT_LENGTH_MAX || line.includes('{snip}') ? null : line;
}

/**
 * Returns the lines of a stack in order, each once: however deep a recursion went, by one function or by several in
 * turn, it reads the same.
 */
export function stackIdentity(frames: readonly Frame[], platform: string): readonly string[] {
  const lines = frames.map((frame) => frameIdentity(frame, platform)).filter((line) => line !== null);
  return [...new Set(lines)];
}

/** Returns the frame that a client's fingerprint means by `function`, `module` and `path`. */
export function culpritFrame(event: ExceptionEvent): Frame | null {
  const stacks = stacksOf(event);
  for (const frames of stacks) {
    const at = frames.findLastIndex((candidate) => isInApp(candidate));
    const frame = callerOfBuiltIn(frames, at, event.platform) ?? frames[at];
    if (frame !== undefined) return frame;
  }
  return stacks.map((frames) => frames.at(-1)).find((frame) => frame !== undefined) ?? null;
}

function stacksOf(event: ExceptionEvent): readonly (readonly Frame[])[] {
  const reported = reportedException(event);
  const causes = event.exceptions.slice(0, -1).reverse();
  return [reported?.frames ?? [], ...causes.map((cause) => cause.frames), event.thread?.frames ?? [], event.stacktrace];
}

/** Returns the caller of a built-in method (`fetch`, `Integer`), which Ruby shows with the caller's line. */
function callerOfBuiltIn(frames: readonly Frame[], at: number, platform: string): Frame | undefined {
  const frame = frames[at];
  if (platform !== 'ruby' || frame === undefined || frame.lineno === null) return undefined;
  const isSameLine = ({ filename, lineno }: Frame): boolean => lineno === frame.lineno && filename === frame.filename;
  const below = frames.slice(0, at).findLastIndex((candidate) => !isSameLine(candidate));
  return frames[below + 1];
}
