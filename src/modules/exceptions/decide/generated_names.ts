/** Anonymous class of PHP, named by its parent, file and line; decoders write U+FFFD for the NUL between. */
export const ANONYMOUS_CLASS: Rule = [
  /@anonymous(?!(?:::|->)[\w{])(?:[\0\uFFFD\s/\\:].*?)?(?=(?:::|->)[\w{]|$)/s,
  '@anonymous',
];

/** Anonymous classes in what is said, where other words may follow. */
export const ANONYMOUS_CLASS_SAID: Rule = [
  /@anonymous[\0\uFFFD ]?(?:[A-Za-z]:)?[/\\][^\s:]{1,300}(?::\d+(?:\$[0-9a-f]+)?)?/g,
  '@anonymous',
];

/*
 * Compilers number anonymous functions and classes in the order of the source, and some name them by file and line: a
 * closure that is added above renames all others. A name keeps all but the number and the place. The rules apply to
 * names of functions, modules and classes in a stack, never to types. Each rule is linear or bounded.
 */
const NUMBERED: readonly Rule[] = [
  ANONYMOUS_CLASS,
  // PHP names a closure by its declaration: its function or its file, and the line.
  [/(?<=\{closure:)(?:[a-z]{2,10}:\/\/)?(?:[A-Za-z]:)?[\\/](?:[^{}\\/]{0,200}[\\/])*(?=[^{}\\/]{1,200}\})/g, ''],
  [/(?:\(\d+\) : eval\(\)'d code)?:\d+(?=\})/g, ''],
  // What Symfony, Doctrine, Twig, Latte, Smarty and libraries for tests compile.
  [/(?<=(?:^|\\)Template)[\da-f]{10}(?=::|->|$)/, ''],
  [/(?<=(?:^|\\)Container)(?=[A-Z\d][a-z]{0,5}[A-Z\d])[A-Za-z\d]{7}(?=\\)/g, ''],
  [/(?<=[a-z](?:Ghost|Proxy|_))(?=[\da-f]{0,6}\d)[\da-f]{7}(?=::|->)/i, ''],
  [/(?<=__TwigTemplate_[\da-f]{16,64})___\d+/, ''],
  [/(?<=\bcontent_[\da-f]{12,24})_\d{6,10}(?!\w)/, ''],
  [/(?<=\bMockery_)\d+(?=_)|(?<=\bMock_\w{1,100}_)[\da-f]{8}(?=::|->)/g, ''],
  // C# as Unity writes it into C++.
  [/(?<=\w)_m[\dA-F]{16,64}(?:_gshared)?$/, ''],
  [/(?<=^|_)U3C(\w{0,100}?)U3E(?=[a-z]?__)/g, '<$1>'],
  // C#: top-level statements, local functions and lambdas in each other, types of one file, compiled expressions.
  [/(?<=<\w{0,100}>c__(?:Iterator|AnonStorey|async))[\dA-F]+/g, ''],
  [/(?<=<\w{0,100}>[m-p]__(?:Finally)?)\d+/g, ''],
  [/(?<=^Castle\.Proxies\.[\w.]{1,200})_\d+$/, ''],
  [/(?<=<>f__AnonymousType|VB\$AnonymousType_|\blambda_method|<Map[A-Z][a-z]{1,20})\d+/g, ''],
  [/<(\w{1,100})>\$/g, '$1'],
  [/<(\w{0,100})>F[0-9A-F]{8,64}__/g, '<$1>F__'],
  [/<([\w.]{0,100})>g__(\w{1,100})\|\d+(?:_\d+)?/g, '$1.$2'],
  [/<([\w.]{1,100})>[bd]__\d+(?:_\d+)?(?:#\d+)?/g, '$1'],
  [/<([\w.]{0,100})>g__(\w{1,100})\|\d+(?:_\d+)?/g, '$1.$2'],
  [/(?<=_(?:Lambda|Closure)\$?_{1,2}|VB\$StateMachine_)\d+(?:-\d+)*/g, ''],
  // F#.
  [/ at line \d+(?=@|$)/, ''],
  [/(?<=\w)@\d+(?:-\d+)?T?(?!\w|\.\d)/g, '@'],
  // Android's compilers, Kotlin, Java, Scala, Groovy, Clojure.
  [/(\$\$(?:External|Internal)Synthetic[A-Za-z]{0,20})[\d$][\w$]*/g, '$1'],
  [/(?<=\$r8\$lambda\$)[\w-]{20,40}/, ''],
  [/^m\d+(?=\w{1,100}\$lambda)/, ''],
  [/(?<=\w\$lambda)(?:-|\$-?)\d+/g, ''],
  [/(?<=\bobject-)\d+(?=\.)|(?<=\bLambdaForm\$[A-Z]{2,4})\d+/g, ''],
  [/(?<=\blambda\$\w{1,100})\$[\da-f]{1,8}(?=\$\d)/, ''],
  [/(?<=\$(?:FastClass|Enhancer)By\w{1,20})\$\$\w+/, ''],
  [/(?<=\$MockitoMock)\$-?\d+/, ''],
  [/(?<=\bliftedTree|\bscript(?=\d{10}))\d+/, ''],
  [/(?<=\bGenerated\w{1,40}Stage)\d+/, ''],
  [/(?<=\bG__)\d+/g, ''],
  [/\b(?:jdk\.proxy\d+|com\.sun\.proxy)(?=\.)/, 'jdk.proxy'],
  [/(?<=_aroundBody|\$AjcClosure|\$\$\$view)\d+$/, ''],
  [/(?<=\baccess\$)\d+/, ''],
  [/(?<=[$/](?:fn|eval|reify|iter)(?:_{0,2}|--))\d+(?:__auto__|__\d+)?/g, ''],
  // Closures of what a shell of Groovy evaluates.
  [/^Script\d+(?=\$)/, 'Script'],
  // Go: `defer` and `go` with arguments, loops over functions, and what initialises packages.
  [/^glob\.\./, 'init.'],
  // A method may change between a pointer and a value; a module has its major version in its path.
  [/\(\*([\w.]{1,200}(?:\[(?:[^[\]]|\[[^[\]]{0,100}\]){0,300}\])?)\)(?=\.)/g, '$1'],
  [
    /^((?:(?:github|gitlab|bitbucket)\.(?:com|org)|codeberg\.org)\/[^/\s]{1,100}\/[^/\s]{1,100}|[a-z\d-]{1,60}(?:\.[a-z\d-]{1,60}){1,5}\/[^/\s]{1,100})\/v(?:[2-9]|[1-9]\d{1,3})(?=[/.]|$)/,
    '$1',
  ],
  [/^(gopkg\.in\/[^\s.]{1,200})\.v\d{1,4}(?=[/.]|$)/, '$1'],
  [/\binit\.\d+(?!\w)/, 'init'],
  [/(?<=[.-](?:deferwrap|gowrap|range))\d+(?:\.\d+)*/g, ''],
  [/(?<=\.func\d[\w.]{0,200})\.\d+(?=\.|$)/g, ''],
  // Rust by either mangling, as it is and demangled, and by debuggers.
  [/17h[\da-f]{16}(?=E)/, ''],
  [/(?<=C)s[\dA-Za-z]{0,14}_(?=\d)(?<=^_R\w{0,500})/g, ''],
  [/s[\dA-Za-z]{0,2}_(?=0)(?<=^_R\w{0,500})/g, ''],
  [/(?<=B)[\dA-Za-z]{0,4}_(?<=^_R\w{0,500})/g, ''],
  [/\{\{vtable\.shim\}\}|\{(?:vtable\.shim|shim:vtable)(?:#\d+)?\}/g, '{shim}'],
  [/\{\{([\w.]{1,40})\}\}/g, '{$1}'],
  [/\[[0-9a-f]{8,16}\](?=::|$|>| )/g, ''],
  [/\b(closure|async_fn|async_block|async_closure|impl|coroutine)(?:_env)?\$\d+/g, '{$1}'],
  [/\.llvm\.\d+$/, ''],
  [/^<([^<>\s]{1,200})>::/, '$1::'],
  [/::<(?:[^<>]|<[^<>]{0,100}>){1,200}>/g, ''],
  // C++, Objective-C, Swift, D, Zig: versions of the standard library, too.
  [/(?<=\bstd::)__(?:\w{0,2}\d|\w{0,8}Cr|ndk1|cxx11)::/g, ''],
  [/\[abi:\w{1,40}\]/g, ''],
  [/(?: \[clone [.\w]{1,60}\]| \((?:\.\w{1,60})+\))+$/, ''],
  [/(?:\.(?:isra|(?:__)?part|constprop|cold|lto_priv|localalias|__uniq)(?:\.\d+)*)+$/, ''],
  [/(?<=_omp_fn)\.\d+|(?<=OUTLINED_FUNCTION)(?:_\d+)+/, ''],
  [/(?<=\bomp_outlined)(?:\._debug__)?\.{0,2}\d*(?!\w)/, ''],
  [/(U(?:l[^_]{1,100}E|t))\d*_/g, '$1_'],
  [/(?<=::)__l\d+(?=::)/g, '__l'],
  [/(?<=`)\d+(?=')/g, ''],
  [/(?<='(?:lambda|unnamed))\d+(?=')/g, ''],
  [/(?<=_block_invoke)(?:[_.]\d+)+/, ''],
  [/^@(?:non)?objc /, ''],
  [/^\(\d+\) (?:suspend|await) resume partial function for /, ''],
  [/^(?:merged |specialized |[a-z -]{0,60}specialization <(?:[^<>]|<[^<>]{0,100}>){0,200}> of )+/, ''],
  [/(?<= in )\$[\da-f]{6,16}(?=\))/g, ''],
  [/^(_?\$[sS]\w{1,500}?)(?:T[QY]\d*_|TA)+$/, '$1'],
  [/(f[Uu])\d*_(?<=^_?\$[sS]\w{0,500})/g, '$1_'],
  [/(?<=__lambda)_L\d+(?:_C\d+)?/g, ''],
  [/(?<=__(?:struct|anon|foreachbody)_?)\d+/g, ''],
  // Erlang and Elixir number funs and comprehensions after the function that holds them.
  [/(?<=\/\d{1,3})-([^\s/-]{0,80}(?:\/\d{1,3})?)-\d+-/g, '-$1--'],
  [/(?<=\$\^)\d+/g, ''],
  [/#Fun<([\w.]{1,100}?)\.\d+\.\d+>/g, '#Fun<$1>'],
  [/(?<=#Function<)\d+\.\d+(?=\/)/g, ''],
  [/(?<=\belixir_compiler_)\d+/, ''],
  [/^(?:julia|japi1|jfptr|jlsys)_(\w{1,200})_\d+$/, '$1'],
  // OCaml, Nim, Crystal, Perl, Lua and Dart name anonymous functions by their place, and some number all.
  [/^(caml[A-Z]\w{0,200}(?:__|\.)\w{1,100})_\d+$/, '$1'],
  [/(\w__\w{1,100}_u)\d+$/, '$1'],
  [/(?<=__ANON__::SERIAL::|\bSandbox_)\d+/g, ''],
  [/(?<=(?:\b|_)anon_fn)\[[^\]]{0,200}\](?:_\d+)?/, ''],
  [/(?<=_anon_fn)_\d+$/, ''],
  [/^~proc\d*([^@]{0,100})@.*$/s, '~proc$1'],
  // Cython counts the functions and generators of a module.
  [/(?<=^__pyx_\w{0,200}_(?:\d*generator)?)\d+(?=[A-Za-z_]|$)/g, ''],
  [/(?<=__ANON__)(?:\([^)]{0,200}\)|\[[^\]]{0,200}\])/, ''],
  [/(?<=^(?:in )?function )<([^<>:]{1,200}):\d+>/, '<$1>'],
  [/(?<= closure) at \S{1,300}/, ''],
  // A number after a sign, or after a word for an anonymous function.
  [/ ?#\d+(?!\w)/g, ''],
  [/(?<=[|~^])\d+(?:_\d+)?(?!\w)/g, ''],
  [/(?<=(?<![a-zA-Z])(?:lambda|closure|anon|anonymous|anonfun)[_$^.:-]{0,2})-?\d+(?![a-zA-Z])/gi, ''],
  [/(?<=[._]fun_)\d+(?![a-zA-Z])/g, ''],
  [/(?<=\bwasm-function)\[\d+\]/, ''],
];

/** Forms of names that only a number, or nothing at all, tells apart from others of the same function or class. */
const CLOSURES: readonly RegExp[] = [
  /[.-](?:func|deferwrap|gowrap|range)\d/,
  /(?<![a-zA-Z])(?:lambda|closure|anon|anonymous|anonfun)[-_$#^ ]{0,2}\d/i,
  /\blambda\$\w{1,100}\$\d|\{(?:lambda|closure)|'lambda|\blambda_method|__lambda|<lambda_/,
  />[bm]__|\{ <lambda> \}|@anonymous|_Lambda\$|\w@\d|\$_?\d|Synthetic[A-Za-z]{1,20}\d|\$r8\$lambda|\$\$Lambda|\$(?:fn|reify)__/,
  /\/\d{1,3}-[^\s/-]{0,80}(?:\/\d{1,3})?-\d+-|^anonymous fn\/|closure #|_block_invoke|anon_fn\[|[._]fun_\d|~proc/,
  /__ANON__|^(?:in )?function <|\bwasm-function\[| closure at /,
  /Ul[^_]{1,100}E\d*_|^_R.{0,10}NC|^_?\$[sS]\w{1,500}f[Uu]\d*_|_omp_fn|\bomp_outlined|OUTLINED_FUNCTION/,
];
const CLOSURE_CLASS =
  /(?<!\$|MockitoMock|ByteBuddy|HibernateProxy|Accessor)\$\d+$|Synthetic[A-Za-z]{1,20}\d|\$\$Lambda|@anonymous/;

/** Whether the function, or the class that holds it, may be one of several that a stack does not tell apart. */
export function isClosure(name: string | null, module: string | null): boolean {
  return CLOSURES.some((form) => form.test(name ?? '')) || CLOSURE_CLASS.test(module ?? '');
}

/** Names of functions that bundlers and compilers of JavaScript number: the module's id, or what stands for `async`. */
const NUMBERED_SCRIPT = /^(?:\d+|_(?:callee|loop)\d*\$?)$/;

/**
 * Returns a function of JavaScript without the number by which a bundler tells it from its namesakes. Null if only a
 * bundler names it.
 */
export function unnumberedScript(name: string): string | null {
  return NUMBERED_SCRIPT.test(name) ? null : name.replace(/(?<=\w)\$\d*$/, '');
}

/** Whether a file of a page is named by a digest alone: eight characters in both cases, or with figures. */
export function isDigestOnly(file: string): boolean {
  return /^(?=[^.]*[A-Z])(?=[^.]*(?:\d|[A-Z]{2}|[-_]))[\w-]{8}\.[cm]?jsx?$/.test(file);
}

/** Removes the owner of a method, which Ruby 3.4 names: `block in Order#pay` was `block in pay` before. */
export function withoutRubyOwner(name: string): string {
  return name.replace(/(?<=^|\bin )(?:[A-Z]\w{0,100}(?:::|(?=[#.]))){1,20}[#.](?=\S)/, '');
}

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
  [/(?<=(?<!\w)(?:__(?:tilt|bind)|(?:_conditional)?_callback_(?:before|after|around)|_run_)_)-?\d+/, ''],
  // Python names the top of a notebook's cell by its line.
  [/^<cell line: \d+>(?:\(\))?$/, '<module>'],
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
  [/(?<=[._-])(?=[\w-]{0,7}(?:\d|[a-z][A-Z]|[A-Z]{2}))[\w-]{8}(?=\.[cm]?jsx?$)/, '<hash>'],
  [/(?<=^|[._-])(?=[0-9a-f]{0,64}\d)[0-9a-f]{5,64}(?=[._-])/gi, '<hash>'],
  [/^\d+(?=[._-])/, '<hash>'],
  // A library's version is no digest: what is left still tells it from other libraries.
  [/(?<=\w)[._-]v?\d{1,4}\.\d{1,4}\.\d{1,4}(?=[._-])/, ''],
  // Parts that Dart's compiler for the web loads later.
  [/(?<=\.dart\.js_)\d+(?=\.part\.js$)/, '<hash>'],
];

const FILES: readonly Rule[] = [
  // Firefox shows where evaluated code came from; template engines name compiled code by a digest.
  [/ line \d+ > (?:eval|Function).*/s, ''],
  [/(?<![0-9a-z])(?=[0-9a-f]{0,64}\d)[0-9a-f]{12,64}(?![0-9a-z])/gi, '<hash>'],
  [/\(\d+\) : (?:eval\(\)'d code|runtime-created function).*/s, ' : eval'],
  [/(?<=--)[\da-f]{10}(?=\.php$)/, ''],
  // Python: notebooks, and code that libraries make; V8 and Firefox name WebAssembly by a digest or a position.
  [/^<ipython-input-.*/s, '<ipython>'],
  [/^Cmd \d+$/, 'Cmd'],
  [/(?<=^<[\w. -]{0,200}[a-z])[-_]?\d+(?=>$)/is, ''],
  [/^memory:0x[0-9a-f]+$|(?<=^<@?[\w.() ]{1,200}) at 0x[0-9a-f]+(?=>$)/, ''],
  [/(?<=^<doctest .{1,200})\[\d+\](?=>$)/s, ''],
  // Python's extension modules, libraries and archives with a version.
  [/\.(?:cpython|pypy|cp)\d{2,4}[\w-]{0,60}(?=\.(?:so|pyd)$)|\.(?:cpython|pypy)-\d[\w-]{0,60}(?=\.(?:so|pyd)$)/, ''],
  [/(?<=\.so)(?:\.\d{1,6}){1,4}$|-\d{1,6}(?:\.\d{1,6}){1,4}(?:[.-][A-Za-z]\w{0,20})?(?=\.jar$)/, ''],
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
