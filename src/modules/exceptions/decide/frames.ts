import type { ExceptionEvent, Frame } from '#modules/exceptions/decide/event.ts';
import { framesOf, reportedException } from '#modules/exceptions/decide/event.ts';
import {
  ANONYMOUS,
  isClosure,
  isDigestOnly,
  stableFile,
  stableFunction,
  stableModule,
  stableScriptFunction,
  unnumberedScript,
  withoutRubyOwner,
} from '#modules/exceptions/decide/generated_names.ts';

/** Paths of the language's own runtime: never application code, even if an old client says so. */
const RUNTIME_PATH =
  /^node:|^internal\/|(?:^|\/)<frozen |^native$|^<anonymous>$|\[native code\]|^\/(?:lib(?:32|64|x32)?|System)\/|^\/usr\/lib(?:32|64)?\/.*\.(?:so|dylib)(?:\.[\d.]+)?$|^[a-z]:\/windows\/|\/lib\/python\d(?:\.\d+)?\/(?!(?:site|dist)-packages\/)|\/(?:usr\/(?:local|lib)|opt)\/go[^/]*\/src\/|\/lib\/ruby\/\d[\d.]*\/|^<internal:/i;
const RUNTIME_MODULE = /^(?:java|javax|jdk|sun|com\.sun|kotlin|scala|System|Microsoft)\./;

/** Paths of installed packages: not the application unless the client insists. */
const PACKAGE_PATH =
  /(?:^|\/)(?:node_modules|site-packages|dist-packages|vendor|gems|bower_components|\.cargo|\.pub-cache|pkg\/mod|webpack\/(?:bootstrap|runtime))(?:\/|$)|^(?:webpack|chrome-extension|moz-extension|safari-extension|safari-web-extension):\/\/\/?(?:external|$|[a-z0-9-]{20,})/;
const PACKAGE_MODULE =
  /^(?:org\.(?:springframework|apache|hibernate|eclipse|jboss|junit|postgresql|slf4j)|com\.(?:fasterxml|mysql|zaxxer|google\.common)|io\.(?:netty|grpc|micrometer|vertx)|reactor|kotlinx|androidx|android|groovy|akka|play|io\.sentry|sentry_sdk|Sentry)\.|^(?:runtime|reflect|net\/http|testing)$/;

/** Executable of an application on a phone: its own code, even if the client says that it is not. */
const APPLICATION_BUNDLE = /\/Containers\/Bundle\/Application\/[^/]+\/[^/]+\.app\/[^/]+$/i;

/** Whether the frame is code of the application itself, rather than of its language or the packages it uses. */
export function isInApp(frame: Frame): boolean {
  if (APPLICATION_BUNDLE.test(frame.native?.package ?? '')) return true;
  if (frame.inApp === false) return false;
  const path = (frame.absPath ?? frame.filename ?? frame.native?.package ?? '').replaceAll('\\', '/');
  const module = frame.module ?? '';
  if (RUNTIME_PATH.test(path) || RUNTIME_MODULE.test(module)) return false;
  return frame.inApp === true || !(PACKAGE_PATH.test(path) || PACKAGE_MODULE.test(module));
}

/** Languages whose clients send the source line as it was written. */
const WRITTEN_LINES = /^(?:javascript|node|bun|deno|python|php|ruby)\b/;

/** Longest context line that counts. Longer ones are from bundles; the part that clients send depends on the column. */
const CONTEXT_LENGTH_MAX = 120;

/** The part of a group's key that comes from a frame. */
interface FrameIdentity {
  /** Readable line: `views in checkout: raise CardDeclined(card)`. Never depends on line numbers, builds or hosts. */
  readonly line: string;
  /** Whether it says more than the file. */
  readonly isNamed: boolean;
  /** Whether several closures of one place may have this line. */
  readonly isAmbiguous: boolean;
}

/** Returns the identity of a frame; null when nothing in it is stable. */
function frameIdentity(frame: Frame, platform: string): FrameIdentity | null {
  const line = contextIdentity(frame, platform);
  const sentName =
    (isScript(platform) ? scriptFunction(frame) : namedFunction(frame, platform)) ?? nativeIdentity(frame);
  const name = sentName !== null && line !== null && platform === 'php' ? withoutDeclaration(sentName) : sentName;
  const file = () => fileIdentity(frame, { platform, isNamed: name !== null });
  const module = stableModule(frame.module);
  // Only some versions of Ruby and its client say which module a method belongs to.
  const isByFile = platform === 'ruby';
  const where = isByFile ? (file() ?? module) : (module ?? file());
  const place = [where, name].filter((part) => part !== null).join(' in ');
  const parts = [place, line ?? ''].filter((part) => part !== '');
  if (parts.length === 0) return null;
  const isAmbiguous = line === null && !isScript(platform) && isClosure(frame.function, frame.module);
  return { line: parts.join(': '), isNamed: name !== null || line !== null, isAmbiguous };
}

/** Removes the declaration that PHP 8.4 writes into the name of a closure, whose line of source tells it apart anyway. */
function withoutDeclaration(name: string): string {
  const start = name.indexOf('{closure');
  if (start === -1) return name;
  const owner = name.slice(0, start);
  return owner.endsWith('::') ? `${owner}{closure}` : '{closure}';
}

/** Whether the platform runs JavaScript, whose engines each spell functions in their own way. */
export function isScript(platform: string): boolean {
  return /^(?:javascript|node|bun|deno)\b/.test(platform);
}

interface FileRules {
  readonly platform: string;
  readonly isNamed: boolean;
}

/**
 * Returns the file if it counts. Bundlers move functions between the files of a page: the file of one that has a name
 * does not count, nor one named by a digest. The files of an installed application do.
 */
function fileIdentity({ filename, absPath }: Frame, { platform, isNamed }: FileRules): string | null {
  const file = stableFile(filename) ?? stableFile(absPath);
  const address = absPath ?? filename ?? '';
  if (platform !== 'javascript' || !FROM_A_BUNDLE.test(address)) return file;
  if (file?.includes('<hash>') === true || (file !== null && isDigestOnly(file))) return null;
  return isNamed && FROM_A_PAGE.test(address) ? null : file;
}

const FROM_A_PAGE = /^https?:\/\//;
const FROM_A_BUNDLE = /^(?:https?|app|capacitor|file):\/\//;

function scriptFunction(frame: Frame): string | null {
  const name = stableScriptFunction(frame.function);
  return name === null ? null : unnumberedScript(name);
}

function namedFunction(frame: Frame, platform: string): string | null {
  const stable = stableFunction(frame.function);
  const name = stable !== null && platform === 'ruby' ? withoutRubyOwner(stable) : stable;
  return name === null || name.endsWith(ANONYMOUS) || name === '<redacted>' ? null : name;
}

/** Returns the identity of compiled code without symbols: `libshop.so+0x1f30`. */
function nativeIdentity({ native }: Frame): string | null {
  if (native === undefined) return null;
  const library = stableFile(native.package);
  return [library, native.offset].filter((part) => part !== null).join('+') || null;
}

function contextIdentity(frame: Frame, platform: string): string | null {
  if (frame.contextLine === null || !WRITTEN_LINES.test(platform)) return null;
  const line = frame.contextLine.trim().replaceAll(/\s+/g, ' ');
  return line === '' || line.length > CONTEXT_LENGTH_MAX || line.includes('{snip}') ? null : line;
}

/** The part of a group's key that comes from a stack. */
export interface StackIdentity {
  /**
   * Lines in order, each once: recursion reads the same at any depth, by one function or by several in turn. The
   * call that raised is the last, even if it was called before, and two closures of one function are two.
   */
  readonly lines: readonly string[];
  /** Whether the raising call has a name, or its line of source, and that tells it from others. */
  readonly isRaiserNamed: boolean;
}

export function stackIdentity(frames: readonly Frame[], platform: string): StackIdentity {
  const counted = isScript(platform) ? framesOfScript(frames, platform) : framesOfOthers(frames, platform);
  const identities = counted.map((frame) => frameIdentity(frame, platform));
  const calls = identities.flatMap((identity, index): readonly (readonly [call: string, line: string])[] => {
    if (identity === null) return [];
    const { line, isNamed } = identity;
    const functionName = !isNamed || isScript(platform) ? '' : (counted[index]?.function ?? '');
    return [[`${functionName}\n${line}`, line]];
  });
  const once = [...new Map(calls)];
  const raiser = calls.at(-1)?.[0] === once.at(-1)?.[0] ? [] : calls.slice(-1);
  const lines = [...once, ...raiser].map(([, line]) => line);
  const last = identities.at(-1) ?? null;
  return { lines, isRaiserNamed: last !== null && last.isNamed && !last.isAmbiguous };
}

/** Comprehensions of Python, which have no frame of their own since 3.12 (PEP 709). */
const COMPREHENSION = /^(?:[\w.]{0,200}<locals>\.)?<(?:list|dict|set)comp>$/;

/** Returns the frames that every version of the language shows; all of them if that leaves none. */
function framesOfOthers(frames: readonly Frame[], platform: string): readonly Frame[] {
  if (platform === 'csharp') return frames.map(undemystified);
  if (platform !== 'python') return frames;
  const shown = frames.filter((frame) => !COMPREHENSION.test(frame.function ?? ''));
  return shown.length > 0 ? shown : frames;
}

/** Method as Ben.Demystifier writes it, its type arguments removed: `async Task Shop.Cart.Pay(int id)+Retry()`. */
const DEMYSTIFIED =
  /^(?:(?:async|extern|readonly|ref|unsafe) ){0,4}(?:(?!new |static )(?:\([^()]{0,300}\)|[\w.[\],?*]{1,300})\??(?:\[[,\]]{1,20})? )?(new |static )?([\w.]{1,400})\((?:[^()]|\([^()]{0,300}\)){0,600}\)(?:\+(\w{0,100})\(.{0,600}?\)( =>)?.*)?$/s;
const TYPE_ARGUMENTS = /<[^<>()]{0,300}>/g;
/** Class that holds lambdas. */
const LAMBDAS = /\+<>c(?:__DisplayClass\d+(?:_\d+)?)?$/;

/**
 * Returns a frame of .NET in one form, whether its client demystifies stacks (which it does unless the program was trimmed
 * or compiled ahead of time) or not: the class as the module, and the method without its arguments.
 */
function undemystified(frame: Frame): Frame {
  const module =
    frame.module
      ?.replace(LAMBDAS, '')
      .replaceAll(/`\d+(?:\[.*)?/gs, '')
      .replaceAll(/\+(?=\w)/g, '.') ?? null;
  const name = frame.function ?? '';
  if (!name.endsWith(')') && !name.includes(')+')) return { ...frame, module };
  let plain = name;
  for (let level = 0; level < TYPE_LEVELS_MAX && plain.includes('<'); level += 1) {
    plain = plain.replaceAll(TYPE_ARGUMENTS, '');
  }
  const [, maker, path = '', inner, isLambda] = DEMYSTIFIED.exec(plain) ?? [];
  if (path === '') return { ...frame, module };
  const dot = path.lastIndexOf('.');
  const [owner, method] =
    maker === undefined
      ? [path.slice(0, Math.max(0, dot)), path.slice(dot + 1)]
      : [path, maker === 'new ' ? '.ctor' : '.cctor'];
  const within = inner === undefined || inner === '' ? method : `${method}.${inner}`;
  return {
    ...frame,
    module: module ?? (owner === '' ? null : owner),
    function: isLambda === undefined ? within : `${within} { <lambda> }`,
  };
}

const TYPE_LEVELS_MAX = 5;

const BUILT_IN = /^(?:native|<anonymous>|\[native code\])$/;
/** Marks of V8 and Firefox for the calls before an `await`, a timer or an event; Safari has none. */
const ASYNC_CALLER = /^async |^(?:async|promise callback|[\w.]{1,40} handler|EventListener\.handleEvent)\*/;

/** Returns the frames that every browser shows of the same stack; all of them if that leaves none. */
function framesOfScript(frames: readonly Frame[], platform: string): readonly Frame[] {
  const start =
    platform === 'javascript' ? frames.findLastIndex((frame) => ASYNC_CALLER.test(frame.function ?? '')) : -1;
  const shown = frames.slice(start + 1).filter(({ filename, absPath }) => !BUILT_IN.test(filename ?? absPath ?? ''));
  return shown.length > 0 ? shown : frames;
}

/** The place where a person should look first. */
export interface Culprit {
  /** Readable place, such as `UserService.find` or `checkout (views.py)`. */
  readonly label: string;
  readonly inApp: boolean;
  readonly frame: Frame;
}

/**
 * Finds the deepest frame of the application, in the exception that reached the client if it has one, then in its
 * causes, then in the thread; else the deepest frame of all. Null for an event without a stack.
 */
export function culpritOf(event: ExceptionEvent): Culprit | null {
  const stacks = stacksOf(event);
  for (const frames of stacks) {
    const at = frames.findLastIndex((candidate) => isInApp(candidate));
    const frame = callerOfBuiltIn(frames, at, event.platform) ?? frames[at];
    if (frame !== undefined) return toCulprit(frame, true);
  }
  const deepest = stacks.map((frames) => frames.at(-1)).find((frame) => frame !== undefined);
  return deepest === undefined ? null : toCulprit(deepest, false);
}

function stacksOf(event: ExceptionEvent): readonly (readonly Frame[])[] {
  const reported = reportedException(event);
  const causes = event.exceptions.slice(0, -1).reverse();
  return [
    reported === null ? [] : framesOf(event, reported),
    ...causes.map((cause) => framesOf(event, cause)),
    event.thread?.frames ?? [],
    event.stacktrace,
  ];
}

/** Returns the caller of a built-in method (`fetch`, `Integer`), which Ruby shows with the caller's line. */
function callerOfBuiltIn(frames: readonly Frame[], at: number, platform: string): Frame | undefined {
  const frame = frames[at];
  if (platform !== 'ruby' || frame === undefined || frame.lineno === null) return undefined;
  const isSameLine = ({ filename, lineno }: Frame): boolean => lineno === frame.lineno && filename === frame.filename;
  const below = frames.slice(0, at).findLastIndex((candidate) => !isSameLine(candidate));
  return frames[below + 1];
}

function toCulprit(frame: Frame, inApp: boolean): Culprit {
  return { label: locationOf(frame), inApp, frame };
}

/** Returns `UserService.find` if the module is a class, else `checkout (views.py)`, else whichever half is known. */
function locationOf(frame: Frame): string {
  const name = readableName(stableFunction(frame.function));
  const file = builtInFile(frame) ?? fileName(frame.filename) ?? fileName(frame.absPath) ?? frame.module;
  if (name === null) return file ?? 'unknown code';
  const className = frame.module?.split(/[.\\/]/).at(-1) ?? '';
  if (/^[A-Z][\w$]*$/.test(className) && !/[.:#]/.test(name)) return `${className}.${name}`;
  return file === null || name.includes('::') || name.includes('#') ? name : `${name} (${file})`;
}

/** Returns `node:internal/errors` whole: its last segment could be any application's file. */
function builtInFile({ filename }: Frame): string | null {
  return filename?.startsWith('node:') === true ? filename : null;
}

/** Returns `index.js` for `index-DWx9cN3q.js`; a chunk that is named only by its digest keeps a placeholder. */
function fileName(path: string | null): string | null {
  return stableFile(path)?.replace(/(?<=[\w>])[._-]<hash>/g, '') ?? null;
}

/** Placeholders of runtimes for a function without a name of its own. */
const NAMELESS = /(?:^|[./])(?:<.*>|\?)$|^(?:Timeout\._onTimeout|Immediate\._onImmediate|listOnTimeout)$/;

/** Strips arguments and namespace from a function's name; null for a name without meaning, such as `<module>`. */
function readableName(name: string | null): string | null {
  const short =
    name
      ?.replace(/(?<=\w)\(.*$/s, '')
      .replace(/^.*\\(?=.)/s, '')
      .replace(/^(?:block in |HTML\w*Element\.)/, '') ?? '';
  return short === '' || NAMELESS.test(short) ? null : short;
}
