import { ANONYMOUS_CLASS, NUMBERED } from '#modules/exceptions/decide/numbered_names.ts';

type Rule = readonly [pattern: RegExp, replacement: string];

/*
 * Names that compilers, bundlers and runtimes make up differ from build to build or from call to call, so each is
 * replaced by what stays. Rules run in order, over names the decoder has bounded; each is linear or bounded itself.
 */

/** Name for a function that has none in its language. */
export const ANONYMOUS = '<anonymous>';

/** Spellings of the same function by different engines. */
const SPELLINGS: readonly Rule[] = [
  // JavaScript.
  [/ \[as [^\]]{1,200}\]$/, ''],
  [/^(?:async |new |get |set |static )+/, ''],
  [/^(?:Object|Module|Function|Window|global|globalThis|exports)\.(?=.)/, ''],
  [/(?:\/<)+$/, ''],
  [/^eval at .*/s, '<eval>'],
  [/(?<![^./])(?:\?|<anonymous>|anonymous|<anonymous closure>|<unknown>|\(anonymous\)|<fn>)$/, ANONYMOUS],
  // Go numbers closures in the order of the source.
  [/\.(?:func|gowrap)\d+(?:\.(?:func|gowrap)?\d+)*/g, '.func'],
  [/-fm$/, ''],
  // Go shows the type arguments of a generic function, and its compiler their shape.
  [/\[(?:\.\.\.|go\.shape\.(?:[^[\]]|\[[^[\]]{0,100}\]){0,300})\]/g, ''],
  // Rust, Swift, C++.
  [/::h[0-9a-f]{16}$/, ''],
  [/\bclosure #\d+/g, 'closure'],
  [/(\{lambda[^}]{0,200}\}|lambda)#\d+/g, '$1'],
  // PHP.
  [/\{closure:([^{}]{0,200}?)(?::\d+)?\}/, '{closure:$1}'],
  // Ruby, and the methods that Rails makes of templates.
  [/\bblock \(\d+ levels?\) in /, 'block in '],
  [/^(?:rescue|ensure) in /, ''],
  [/_{2,4}-?\d{4,}_\d+$/, ''],
];

/** Generated parts in the names of functions and classes alike. */
const GENERATED: readonly Rule[] = [
  // Java, Kotlin, Scala, Groovy.
  [/\$\$Lambda[$/][\w$/.]*/, '$$$$Lambda'],
  [/\blambda\$(\w{1,100})\$\d+/, 'lambda$$$1'],
  [/\$Proxy\d+/, '$$Proxy'],
  [/\$\$(\w{0,40}CGLIB)\$\$\w+/, '$$$$$1'],
  [/\$(HibernateProxy|ByteBuddy|MockitoMock|Accessor)\$\w+/, '$$$1'],
  [/(Generated\w{1,40}Accessor)\d+/, '$1'],
  [/_\$\$_(?:javassist|jvst)\w*/, '_$$$$_javassist'],
  [/(\$anonfun)\$[\w$]+/, '$1'],
  [/(\$_?(?:closure|run_closure)?)\d+/g, '$1'],
  // C#: state machines, closures and local functions.
  [/<(\w*)>g__(\w{1,100})\|\d+(?:_\d+)?/g, '$1.$2'],
  [/<(\w*)>c__DisplayClass\d+(?:_\d+)?/g, '<$1>c'],
  [/<(\w+)>[bd]__\d+(?:_\d+)?/g, '$1'],
  // .NET names the assembly of a type argument with its version.
  [/(?:, [\w.-]{1,100})?, Version=\d[\d.]{0,40}(?:, Culture=[\w-]{1,20})?(?:, PublicKeyToken=\w{1,40})?/g, ''],
  // Versions of packages, addresses and digests.
  [/@v?\d+\.\d+[\w.+-]*/, ''],
  [/0x[0-9a-f]+/gi, '<hex>'],
  [/(?<![0-9a-z])(?=[0-9a-f]{0,40}\d)[0-9a-f]{12,64}(?![0-9a-z])/gi, '<hash>'],
];

/** Digests of bundlers between an asset's name and its extension, and chunks named by a number or a digest only. */
const ASSET_HASHES: readonly Rule[] = [
  [/(?<=^|[._-])(?=[0-9a-f]{0,64}\d)[0-9a-f]{5,64}(?=[._-])/gi, '<hash>'],
  [/(?<=[._-])(?=[\w-]{0,7}(?:\d|[a-z][A-Z]|[A-Z]{2}))[\w-]{8}(?=\.[cm]?jsx?$)/, '<hash>'],
  [/^\d+(?=[._-])/, '<hash>'],
];

const FILES: readonly Rule[] = [
  // Firefox shows where evaluated code came from; template engines name compiled code by a digest.
  [/ line \d+ > (?:eval|Function).*/s, ''],
  [/(?<![0-9a-z])(?=[0-9a-f]{0,64}\d)[0-9a-f]{12,64}(?![0-9a-z])/gi, '<hash>'],
  [/\(\d+\) : (?:eval\(\)'d code|runtime-created function).*/s, ' : eval'],
  // Python: notebooks, and code that libraries make; V8 and Firefox name WebAssembly by a digest or a position.
  [/^<ipython-input-.*/s, '<ipython>'],
  [/(?<=^<attrs generated .{1,200}|^<(?:decorator-gen|string))-\d+(?=>$)/s, ''],
  [/^memory:0x[0-9a-f]+$|(?<=^<@?[\w.() ]{1,200}) at 0x[0-9a-f]+(?=>$)/, ''],
  [/(?<=^<doctest .{1,200})\[\d+\](?=>$)/s, ''],
  [/:wasm-function\[\d+\](?::0x[0-9a-f]+)?$/, ''],
  [/^(?:\(eval|<eval|eval at).*/s, '<eval>'],
];

/** Returns a function's name without generated parts; null for none, ANONYMOUS for one that never had any. */
export const stableFunction = remembering((name) => stable(name, NUMBERED, SPELLINGS, GENERATED));

/**
 * Returns a function of JavaScript as every engine names it: its own name, without what it belongs to. Null for one
 * that has none, or only the one or two letters of a minifier.
 */
export const stableScriptFunction = remembering((name) => {
  const lastName = lastSegment(name.replace(/^(?:[a-z][\w. ]{0,60}\*)+/i, ''));
  return lastName === null || NAMELESS_IN_SCRIPTS.test(lastName) ? null : lastName;
});

/** Remainders that are no name: at most two characters, or a placeholder of an engine. */
const NAMELESS_IN_SCRIPTS = /^.{0,2}$|^(?:anonymous|Anonymous function|(?:global|module|eval) code|eval)$|[<>[\]() /]/s;

function lastSegment(name: string): string | null {
  if (name.endsWith('<') || /\.[cm]?[jt]sx?$/.test(name)) return null;
  const plain = stable(name.replace(/ \(index \d+\)$/, ''), SPELLINGS, GENERATED);
  return plain?.split(/[./]/).at(-1)?.replace(/^#/, '') ?? null;
}

/** Returns the name of a module, package or class in a stack, without generated parts. */
export const stableModule = remembering((name) => stable(name, NUMBERED, GENERATED));

/** Returns the type of an exception; null for none, or one of which a minifier has left nothing. */
export const stableType = remembering((name) =>
  MINIFIED_TYPE.test(name) ? null : stable(name, [ANONYMOUS_CLASS], GENERATED),
);

/** Form in which Dart's compiler for the web shows types. */
export const MINIFIED_TYPE = /^minified:/;

/** Returns the last segment of a path or an address, without the digests of the build. Null when there is none. */
export const stableFile = remembering(stableFileOf);

function stableFileOf(path: string): string | null {
  if (path.startsWith('blob:') || path.startsWith('data:')) return '<blob>';
  if (/[/\\]ipykernel_\d+[/\\]\d+\.py$/.test(path)) return '<ipython>';
  if (path.startsWith('wasm://wasm/')) return path.slice('wasm://wasm/'.length).replace(/(?:^|-)[0-9a-f]{8}$/, '.wasm');
  const isCode = /^[<(]|\) : |^eval at /.test(path);
  const base = isCode
    ? path
    : path
        .replace(/(?<=.)[?#].*$/s, '')
        .split(/[/\\]/)
        .findLast((segment) => segment !== '');
  const isAsset = /\.[cm]?jsx?$|\.css$/.test(base ?? '');
  return stable(base ?? null, FILES, isAsset ? ASSET_HASHES : []);
}

/** Size of the cache in names, at which it is cleared. */
const REMEMBERED_MAX = 4_000;

/** Caches the result for each name: the same names recur, and thirty regular expressions for each take time. */
function remembering(decide: (name: string) => string | null): (name: string | null) => string | null {
  const decided = new Map<string, string | null>();
  return (name) => {
    if (name === null) return null;
    let stableName = decided.get(name);
    if (stableName === undefined) {
      if (decided.size >= REMEMBERED_MAX) decided.clear();
      decided.set(name, (stableName = decide(name)));
    }
    return stableName;
  };
}

function stable(name: string | null, ...tables: readonly (readonly Rule[])[]): string | null {
  const trimmed = name?.trim() ?? '';
  if (trimmed === '') return null;
  return tables.flat().reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), trimmed);
}
