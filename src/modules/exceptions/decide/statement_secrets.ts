import { isSecretName } from '#modules/exceptions/decide/secret_names.ts';

/** Literal of SQL. */
const LITERAL = String.raw`N?'[^']{1,200}'`;
/** Passwords and keys in statements of SQL, each by the text before it. */
const SQL_SECRETS: readonly RegExp[] = [
  String.raw`\b(?:password|secret|identified (?:with \S{1,60} )?(?:by|as)|pragma (?:re)?key ?=) {1,4}`,
  String.raw`\bset password (?:for [^\s=]{1,200} )?= ?(?:password\()?`,
  String.raw`\bsp_(?:addlogin|password|addlinkedsrvlogin)\s[^;\n]{0,200}?, ?`,
  String.raw`\b(?:pgp_sym_(?:en|de)crypt(?:_bytea)?|aes_(?:en|de)crypt)\([^()']{0,200}, ?`,
  String.raw`\b(?:en|de)cryptbypassphrase\( ?`,
].map((before) => new RegExp(`(?<=${before})${LITERAL}`, 'gi'));
/** Login to MongoDB. */
const MONGO = /(?<=\bdb\.auth\(\s?["'][^"'\n]{1,100}["'], ?)["'][^"'\n]{1,200}["']/g;
/** Passwords of Oracle without quotes, or in double ones. */
const ORACLE =
  /(\b(?:(?:alter|create) (?:user|role) [^;\n]{1,200}?|connect to \S{1,100} )identified by )(?:"[^"\n]{1,200}"|(?!values\b|['"[])[^\s;,]{1,200})/gi;
/** Comparison of a column with literals: `token IN ('…')`, `"token" LIKE '…'`. */
const COMPARED =
  /(?<=\b([a-z][\w.]{1,100})["\x60\]]? (?:not )?(?:in ?\(|i?like|<>|!=) ?)N?'[^']{0,200}'(?:, ?N?'[^']{0,200}'){0,100}/gi;
/** Passwords of Redis, as commands of their own. */
const REDIS =
  /(^(?:"?HELLO"? "?[23]"? )?"?AUTH"? (?:\S{1,100} )?|^CONFIG SET requirepass |^ACL SETUSER \S{1,100} (?:[^\n>]{0,200} )?>|\b(?:requirepass|masterauth) )(?!\[filtered)(?=[a-z]{0,200}[^\sa-z])\S{1,400}(?= ?$)/gm;
/** Place in a statement for a value that is sent beside it, and the column with which it is compared or to which it is set. */
const PLACE = String.raw`(?:\?|\$\d|%\(?s|@\w|:\w)`;
const PLACED = new RegExp(
  String.raw`["\x60[]?\b([a-z_][\w.]{1,60})["\x60\]]?\s{0,4}(?:=|<>|!=|i?like|in\s?\()\s{0,4}${PLACE}`,
  'gi',
);
const INSERTED = new RegExp(String.raw`\binto\s{1,4}[^(]{1,200}\(([^)]{1,2000})\)[^(]{0,40}\(\s{0,4}${PLACE}`, 'i');
const STATEMENT_LENGTH_MAX = 8_000;

/** Whether a secret is among the values for the places of this statement of SQL. */
export function bindsSecrets(statement: unknown): boolean {
  if (typeof statement !== 'string' || !/[?$%@:]/.test(statement)) return false;
  const text = statement.slice(0, STATEMENT_LENGTH_MAX);
  if ([...text.matchAll(PLACED)].some(([, column = '']) => isSecretName(column))) return true;
  return (INSERTED.exec(text)?.[1] ?? '').split(',').some((column) => isSecretName(column.trim()));
}

/** Names of columns before their values: `INSERT INTO t (a, token) VALUES (1, '…')`, `Key (token)=(…)`. */
const COLUMNS = /\(([\w\s.,"\x60-]{2,2000})\)(\s{0,5}values?\s{0,5}|=)(?=\()/gi;
/** A value in the list of a row, with the sign behind it. */
const ROW_VALUE = /\s*(?!\s)((?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,()'"])*)([,)])/y;
/** Value that MySQL refuses as the second of its kind, with the index that forbids it. */
const DUPLICATE = /(duplicate entry ')[^'\n]{1,500}(?=' for key '([\w.-]{1,200})')/gi;
/** Words of a database in the name of an index: `users.api_key_idx`. */
const OF_INDEX = /(?:^|[._-])(?:index|idx|unique|uniq|uk)(?=$|[._-])/gi;

const STATEMENT_WORDS = /AUTH |requirepass|masterauth|SETUSER|dentified by |DENTIFIED BY |db\.auth/;
const SQL_GATE = /password|secret|identified|pragma|sp_|crypt/i;

/** Removes passwords in statements of SQL, and what MySQL refuses as the second of its kind in a column that is secret. */
export function withoutStatements(text: string, filtered: string): string {
  const said = STATEMENT_WORDS.test(text)
    ? text.replace(REDIS, `$1${filtered}`).replace(ORACLE, `$1${filtered}`).replace(MONGO, `'${filtered}'`)
    : text;
  if (!said.includes(" '") && !said.includes("('") && !said.includes(" N'")) return said;
  const clean = SQL_GATE.test(said)
    ? SQL_SECRETS.reduce((all, form) => all.replace(form, `'${filtered}'`), said)
    : said;
  return clean
    .replace(COMPARED, (whole: string, column: string) => (isSecretName(column) ? `'${filtered}'` : whole))
    .replace(DUPLICATE, (whole: string, begin: string, index: string) =>
      isSecretName(index.replaceAll(OF_INDEX, '_')) ? `${begin}${filtered}` : whole,
    );
}

/** Word of a command line, with quotes or without. */
const ARGUMENT = String.raw`(?:"[^"]{1,200}"|'[^']{1,200}'|[^\s"'][^\s]{0,200})`;
/** Programs that take a password behind a short flag, whatever that means to others. */
const FLAGS_OF: readonly RegExp[] = (
  [
    [String.raw`mysql\w{0,10}|mariadb[\w-]{0,12}|7z\w{0,2}|rar|unrar`, '-p'],
    [String.raw`sshpass|said\w{0,7}|(?:docker|podman|buildah|skopeo|helm registry|oc|az) login`, '-p[ =]?'],
    [String.raw`(?:redis|valkey|keydb)-cli`, '-a '],
    [String.raw`ldap[a-z]{3,10}`, '-w ?'],
    [String.raw`zip|unzip|sqlcmd|bcp|isql`, '-P ?'],
    [String.raw`smbclient|rpcclient|net rpc`, String.raw`-U ?[^\s%]{1,100}%`],
    [String.raw`openssl|nuget`, '-k '],
    [String.raw`ssh-keygen`, '-[NP] '],
    [String.raw`twine|psexec\w{0,4}|npx? adduser`, '-p '],
    [String.raw`snmp[a-z]{3,9}`, '-A '],
    [String.raw`snmp[a-z]{3,9}`, '-X '],
    [String.raw`lftp`, String.raw`-u [^\s,]{1,100},`],
    [String.raw`htpasswd`, String.raw`-[a-zA-Z]{0,4}b[a-zA-Z]{0,4} \S{1,200} \S{1,100} `],
  ] as const
).map(
  ([programs, flag]) =>
    new RegExp(String.raw`(\b(?:${programs})\s(?:[^\n;&|]{0,200}?\s)?${flag})(?!\s)${ARGUMENT}`, 'g'),
);
/** Commands with a password in a fixed place, each behind what comes before it. */
const PLACES: readonly RegExp[] = [
  String.raw`(\bnet use (?:\S{1,3} )?\\\\\S{1,200} )(?![/*])`,
  String.raw`(\bnet user \S{1,100} )(?![/*])`,
  String.raw`(\b(?:setx|npm config set) \S{0,200}(?:token|password|passwd|secret|_auth|key) )(?!-)`,
  String.raw`(\bvault login (?:-\S{1,100} ){0,5})(?![-\w]{1,40}=)(?!-)`,
  String.raw`(\b(?:sqlplus|sqlldr|expdp|impdp) (?:-\S{1,20} ){0,5}[\w.$#]{1,64}\/)(?=[^\s@]{1,200}@)`,
  String.raw`(\bmc (?:alias set|config host add) \S{1,100} \S{1,200} \S{1,200} )(?!-)`,
].map((form) => new RegExp(`${form}${ARGUMENT}`, 'gi'));
/** Text written into a program that reads a password: `echo '…' | sudo -S`. */
const PIPED =
  /(\b(?:echo|printf)(?: -[a-zA-Z]{1,4})? )(?:"[^"\n]{1,200}"|'[^'\n]{1,200}'|[^\s"'|]{1,200})(?= ?\| ?[^\n|]{0,100}(?:sudo -\w{0,3}S|--password-stdin|passwd\b|cryptsetup))/g;
/** Passwords in the addresses of drivers: `app:…@tcp(db:3306)`, `jdbc:oracle:thin:app/…@db`, `app/…@//db:1521/x`. */
const DRIVERS =
  /(?<=(?:^|[\s"'=])[\w.-]{1,64}:)[^\s@"':/]{1,200}(?=@(?:tcp|unix|udp|cloudsql)\()|(?<=jdbc:oracle:\w{1,10}:[\w.$#"-]{1,64}\/)[^\s@"']{1,200}(?=@)|(?<=(?:^|[\s"'=])[\w.$#-]{1,64}\/)[^\s@"'/]{1,200}(?=@\/\/[\w.-]{1,200}[:/])/g;

/** Whether any of these commands may be there: only such texts are searched for them. */
const PROGRAMS =
  /mysql|mariadb|7z|rar\b|sshpass|said| login|-cli|ldap|zip|sqlcmd|bcp|isql|smbclient|rpcclient|net rpc|openssl|nuget|ssh-keygen|twine|psexec|adduser|snmp|lftp|htpasswd/;
const COMMANDS = /net use|setx |config set |vault login|sqlplus|sqlldr|expdp|impdp|mc (?:alias|config)/;
const DRIVER_SIGNS = /@(?:tcp|unix|udp|cloudsql)\(|@\/\/|jdbc:oracle:/;

/** Removes passwords from command lines, and from the addresses of drivers that are no URL. */
export function withoutCommands(text: string, filtered: string): string {
  const replacement = `$1${filtered}`;
  const driven = text.includes('@') && DRIVER_SIGNS.test(text) ? text.replace(DRIVERS, filtered) : text;
  const piped = driven.includes('|') ? driven.replace(PIPED, replacement) : driven;
  const placed = COMMANDS.test(piped) ? PLACES.reduce((clean, form) => clean.replace(form, replacement), piped) : piped;
  if (!placed.includes(' -') || !PROGRAMS.test(placed)) return placed;
  return FLAGS_OF.reduce((clean, form) => clean.replace(form, replacement), placed);
}

/** Removes the values of rows whose columns are secret by their names. */
export function withoutRows(text: string, filtered: string, isSecret: (name: string) => boolean): string {
  const parts: string[] = [];
  let at = 0;
  COLUMNS.lastIndex = 0;
  for (let match = COLUMNS.exec(text); match !== null; match = COLUMNS.exec(text)) {
    const secret = (match[1] ?? '').split(',').map((name) => isSecret(name.trim()));
    if (!secret.includes(true)) continue;
    let from = match.index + match[0].length;
    while (text[from] === '(') {
      from += 1;
      for (let index = 0; ; index += 1) {
        ROW_VALUE.lastIndex = from;
        const value = ROW_VALUE.exec(text);
        if (value === null) break;
        const [whole, held = '', sign] = value;
        if (secret[index] === true && held.trim() !== '') {
          parts.push(text.slice(at, from + whole.indexOf(held)), filtered);
          at = from + whole.length - 1;
        }
        from += whole.length;
        if (sign === ')') break;
      }
      // Further rows follow behind a comma.
      const next = /^,\s{0,5}(?=\()/.exec(text.slice(from, from + 10));
      if (next === null) break;
      from += next[0].length;
    }
    COLUMNS.lastIndex = Math.max(from, COLUMNS.lastIndex);
  }
  return at === 0 ? text : parts.join('') + text.slice(at);
}

const CODE_WORD = String.raw`(?:(?:otp|totp|mtan|pin)(?:[_-]?code)?|passcode|cv[cv]2?|one[-_ ]time[-_ ](?:code|password|passcode)|(?:access|activation|auth|authentication|authorization|backup|confirmation|login|log-?in|mfa|2fa|recovery|reset|security|sign-?in|sms|two[-_ ]factor|unlock|verification|verify)[-_ ]?code)`;
const CODE_VALUE = String.raw`(?:\d{3}[- ]\d{3}|\d{3,8})(?![\w%]|[.,:-]\d|\s?(?:ms|sec|min|px|attempt|digit|char|time|fail|tries|minute|second|hour|day)[a-z]{0,8}\b)`;
/**
 * Secrets as sentences say them: `OTP is 123456`, `wrong PIN: 1234`, `123456 is your login code`, `use code 1234`,
 * `password is hunter2`. Each form is searched for where a cheaper one says that it may be there.
 */
const SAID: readonly (readonly [gate: RegExp, form: RegExp, before: string])[] = [
  [
    /otp|mtan|\bpin|passcode|\bcv[cv]|time.pass|[a-z].?code\b/i,
    new RegExp(
      String.raw`((?<![\w.-])${CODE_WORD}(?: (?:for \S{1,80}|code|number)){0,2}(?: is| was)?\s{0,2}[:=#]?\s{0,2}["'\x60]?)(?<!\w)${CODE_VALUE}`,
      'gi',
    ),
    '$1',
  ],
  [
    /\d is (?:your|the|my) /i,
    new RegExp(
      String.raw`(?<![\w.-])${CODE_VALUE}(?= is (?:your|the|my) (?:[\w-]{1,20} ){0,3}(?:${CODE_WORD}|code)\b)`,
      'gi',
    ),
    '',
  ],
  [/\bcode \d{4}/i, /(\b(?:use|enter|type|with) (?:the )?code )\d{4,8}(?!\w)/gi, '$1'],
  [
    /\bpass(?:word|wd|phrase)\d{0,2} ["'`iw]/i,
    /(\bpass(?:word|wd|phrase)\d{0,2} (?:(?:is|was) )?(["'`]))(?!\[filtered)[^"'`\n]{1,100}(?=\2)/gi,
    '$1',
  ],
  [
    /\bpass(?:word|wd|phrase)\d{0,2} (?:is|was) /i,
    /(\bpass(?:word|wd|phrase)\d{0,2} (?:is|was) )(?=[^\s\d,;]{0,64}\d)(?=\d{0,64}[^\s\d,;.])[^\s,;]{4,64}/gi,
    '$1',
  ],
  [
    /key|token|secret (?:is|was)/i,
    /(?<!unexpected )(\b(?:(?:api|access|auth|secret|private|encryption|signing|session)[ _-](?:key|token)|token|secret (?:is|was))(?: (?:is|was|provided|given|used|value)){0,2}:? ["'`]?)(?!\[filtered)(?:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|(?=[A-Za-z_]{0,64}\d)(?=\d{0,64}[A-Za-z])[\w+/=~]{10,400})(?![\w(@-]|\.\w)/gi,
    '$1',
  ],
  [/[?&]code=/, /(?<=[?&]code=)(?=[A-Za-z_%/.-]{0,64}\d)(?=[A-Z\d_%/.-]{0,64}[a-z])[\w.%/+-]{20,2000}/g, ''],
];
/** Names before their value without a sign, as in `reset_token x7k2m9`; a value of letters and digits is no sentence. */
const BARE =
  /(?<![\w.-])((?:[a-z]{1,40}(?:_[a-z\d]{1,40}){1,6}|pass(?:word|wd|phrase)\d{0,2}) )(?=[a-z_-]{0,64}\d)(?=\d{0,64}[a-z])(?!\d+-|sha\d|md5|v\d)[\w-]{6,64}(?![\w(])/gi;

/** Removes codes, passwords and tokens that a sentence tells. */
export function withoutSaid(text: string, filtered: string): string {
  const clean = SAID.reduce(
    (clean, [gate, form, before]) => (gate.test(clean) ? clean.replace(form, `${before}${filtered}`) : clean),
    text,
  );
  if (!clean.includes('_') && !/pass/i.test(clean)) return clean;
  return clean.replace(BARE, (whole: string, name: string) => (isSecretName(name) ? `${name}${filtered}` : whole));
}
