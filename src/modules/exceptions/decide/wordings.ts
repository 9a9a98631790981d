type Rule = readonly [pattern: RegExp, replacement: string];

/** Quotes as programs of GNU and Ruby wrote them before (`name'), and write them in some locales. */
const OLD_QUOTES: Rule = [/(?<!\w)[`‘]([^`'‘’]{1,200})['’](?!\w)/g, "'$1'"];

/** Wordings that differ between versions of Ruby and PHP. */
const WORDINGS: Readonly<Record<string, readonly Rule[]>> = {
  ruby: [
    [/ for nil:NilClass\b/, ' for nil'],
    [/ for ([A-Z][\w:]{0,200}):Class\b/, ' for class $1'],
    [/ for ([A-Z][\w:]{0,200}):Module\b/, ' for module $1'],
    [/ for #<([A-Z][\w:]{0,200}?)(?::0x[\da-f]{1,20})?(?: [^>]{0,500})?>/, ' for an instance of $1'],
    [/ ?=> ?/g, '=>'],
  ],
  php: [
    [/^(?:PHP )?(?:Notice|Warning|Deprecated): +/, ''],
    [/"([^"]{0,200})"/g, "'$1'"],
    [/\bUndefined variable:? \$?(?=\w)/, 'Undefined variable '],
    [/\bUndefined (?:index|offset): +(.{1,200}?)(?= in \/|$)/, "Undefined array key '$1'"],
    [/\bUndefined array key (-?\d+)/, "Undefined array key '$1'"],
    [/\bUse of undefined constant (\w{1,200}) - assumed '\w{1,200}'.*/, "Undefined constant '$1'"],
    [/\bTrying to get property '?(\w{1,200})'? of non-object/, "no property '$1'"],
    [/\bAttempt to read property '(\w{1,200})' on \w{1,20}/, "no property '$1'"],
    [/\bon value of type (?=\w)/, 'on '],
    [/\bfailed to open stream\b/, 'Failed to open stream'],
    [
      /^Argument (\d{1,3}) passed to ([^\s]{1,300}?\(\)) must be (?:of the type |an instance of |of type )/,
      '$2: Argument #$1 must be of type ',
    ],
    [/: Argument #(\d{1,3}) \(\$\w{1,100}\) must be/, ': Argument #$1 must be'],
  ],
};

/** Returns the line as every version of its language words it. */
export function plainWording(line: string, platform: string): string {
  const rules = Object.hasOwn(WORDINGS, platform) ? (WORDINGS[platform] ?? []) : [];
  return [OLD_QUOTES, ...rules].reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), line);
}

const QUOTED = /["'`]([\w$]{1,100})["'`]/.source;
/** Expression that was called or read, as in the source. The capture is its last name, which minifiers keep. */
const EXPRESSION = /(?:[\w$.()[\]'"]{0,200}\.)?([\w$]{1,100})/.source;

/*
 * Every JavaScript engine words the same mistake in its own way. The first rule that fits gives the common wording:
 * rules for V8 first, then for SpiderMonkey, then for JavaScriptCore.
 */
const RULES: readonly Rule[] = [
  [
    new RegExp(`^Cannot (?:read|set) propert(?:y|ies) of (?:undefined|null) \\((?:reading|setting) ${QUOTED}\\)`),
    'no $1 of nothing',
  ],
  [new RegExp(`^Cannot (?:read|set) property ${QUOTED} of (?:undefined|null)`), 'no $1 of nothing'],
  [new RegExp(`^can't access property ${QUOTED}`), 'no $1 of nothing'],
  [
    new RegExp(`^(?:undefined|null) is not an object \\(evaluating '${EXPRESSION}(?: = .*)?'\\)`, 's'),
    'no $1 of nothing',
  ],
  [new RegExp(`^${EXPRESSION} is not a (?:function|constructor)`, 's'), '$1 is not a function'],
  [new RegExp(`^${EXPRESSION} is not (?:async )?iterable`, 's'), '$1 is not iterable'],
  [/^([\w$]{1,100}) is not defined/, '$1 is not defined'],
  [/^Can't find variable: ([\w$]{1,100})/, '$1 is not defined'],
  [
    /^(?:Cannot access '[\w$]+' before|can't access lexical declaration|Cannot access uninitialized variable)/,
    'used before it was initialized',
  ],
  [
    /^(?:Assignment to constant variable|invalid assignment to const|Attempted to assign to readonly property|Cannot assign to read only property|"[\w$]{1,100}" is read-only)/,
    'assigned to a constant',
  ],
  [/^(?:Maximum call stack size exceeded|too much recursion)/, 'stack overflow'],
  // Clients put the host behind it. With other words behind it, it is a program's own message.
  [
    /^(?:Failed to fetch|NetworkError when attempting to fetch resource|Load failed)\.?(?: \([^()]{1,300}\))?\s*$/,
    'fetch failed',
  ],
  [
    /^(?:Failed to fetch dynamically imported module|error loading dynamically imported module|Importing a module script failed)/,
    'a module was not loaded',
  ],
  [/^Loading (?:CSS )?chunk (?:\d+|([\w-]{1,100})) failed/, 'chunk $1 was not loaded'],
  [/^ResizeObserver loop (?:limit exceeded|completed with undelivered notifications)/, 'ResizeObserver loop'],
  [
    /^(?:Converting circular structure to JSON|cyclic object value|JSON\.stringify cannot serialize cyclic structures)/,
    'a cycle in JSON',
  ],
  [
    /^(?:JSON\.parse: |JSON Parse error: |Unexpected (?:token .*|end of )(?:in JSON|JSON)|.{0,80} is not valid JSON)/s,
    'invalid JSON',
  ],
  [
    /^(?:Invalid array length|invalid array length|Array size is not a small enough positive integer)/,
    'invalid array length',
  ],
];

/** Messages with a minifier's name for the subject, which say nothing. */
const MINIFIED = /^[\w$]{1,2} is not/;

/** Returns the message in words that do not depend on the engine; unchanged when no engine makes it. */
export function plainEngineMessage(text: string): string {
  const message = text.replace(/^Uncaught (?:\w{1,40}: )?/, '');
  for (const [pattern, replacement] of RULES) {
    const match = pattern.exec(message);
    if (match !== null) return replacement.replace('$1', match[1] ?? '').replace(MINIFIED, '<name> is not');
  }
  return text;
}

/** Returns the type as other engines have it: Firefox alone has one for a recursion that does not end. */
export function plainEngineType(type: string): string {
  return type === 'InternalError' ? 'RangeError' : type;
}
