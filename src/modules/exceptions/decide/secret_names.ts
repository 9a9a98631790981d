const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/**
 * Words that make a name secret wherever they are in it, unless a later word shows that the value only describes one.
 */
const SECRET_WORDS: ReadonlySet<string> = words(
  'authorization bearer cardnumber contrasena losenord salasana credential credentials csc csrf cvc cvv iban jsessionid jwt kennwort mnemonic keypass mypass passcode passphrase passwd password passwords passwort phpsessid pswd pwd secret senha sessionid signature samlresponse ssn storepass token userpass wachtwoord xsrf adgangskode creds geslo haslo heslo jelszo kodeord magstripe otpauth parola passkey passord shibsession pinblock psk pwhash sifre trackdata',
);
/** Words with other meanings inside a name (`pass_rate`, `auth_flow`): secret only if nothing but carriers follows. */
const LAST_WORDS: ReadonlySet<string> = words('auth cookie cookies hmac mtan otp pass pin pw secrets sid sig totp');
/** Words that follow a secret in its name: `pin_code`, `auth_header`, `pass_phrase`. */
const CARRIERS: ReadonlySet<string> = words(
  'again code codes confirm confirmation confirmed data digest hash header headers input jar key new number old phrase plain raw repeat repeated string text value values verify word',
);
const KEY_OWNERS =
  'access|account|aes|api|app|auth|aws|consumer|crypto|decryption|deploy|encryption|fcm|gpg|hmac|integration|jwt|licence|license|master|openai|pass|pgp|private|product|rsa|secret|sendgrid|server|service|session|shared|signing|ssh|ssl|stripe|subscription|tls|twilio|webhook|wep|wi fi|wifi|wpa';
const CODE_OWNERS =
  'access|activation|alarm|auth|authorization|backup|card|confirmation|device|door|fa|gate|invitation|invite|login|mfa|one time|otp|pairing|pin|recovery|reset|security|sms|tfa|two factor|unlock|verification|verify';
/** Words that are secret together, between blanks. Numbers are left out: `2fa_code` is ` fa code `. */
const PHRASES = new RegExp(
  ` (?:(?:${KEY_OWNERS}) keys?|(?:${CODE_OWNERS}) codes?|(?:access|api|auth|bearer|id|refresh|session) tokens|session id|(?:card|cc|credit card|debit card) (?:no|num|number)|(?:credit|debit) card|bank account|passport (?:no|num|number)|national (?:id|insurance number)|(?:conn|db|database) str|pin block|security (?:answer|number)|card verification value|mot de passe|(?:recovery|seed) phrase|connection string|(?:client|jwt|saml) assertion|saml response|(?:code|oauth) verifier|(?:gh|git ?hub|git ?lab) pat|magic link|wordpress logged in|(?:adonis|beaker|ci|codeigniter|django|flask|gorilla|host|koa|laravel|phoenix|play|rails|remix|secure|symfony) session) `,
);
/** Secret words written as one. */
const COMPOUNDS =
  /(?:password|passwd|passwort|passcode|passphrase|motdepasse|secret|token|cvv|cvc|(?:api|access|auth|encryption|master|private|secret|signing|ssh|ssl|tls)keys?|sessionid|(?:security|pin|otp|auth|access|verification|sms|mfa|tfa|twofactor|onetime|unlock|reset|recovery)code|ccnum(?:ber)?|creditcard|connectionstring|^(?:admin|db|ftp|login|mail|mysql|redis|root|smtp)pass)(?:again|box|check|confirm|confirmation|digest|hash|new|old|repeat|value|verify)?$/;
/** Words for a property of a secret, which is none itself: `token_count`, `secret_name`, `cookie_consent_version`. */
const ABOUT: ReadonlySet<string> = words(
  'age alg algorithm attempts bucket budget changed consent count counts created disabled domain enabled endpoint expiration expired expires expiry file index issued issuer length lifetime limit max min mode name names path policy present provider rate required requirements reset retries rules score size status strength tries ttl type updated uri url usage used valid version error errors failures format matched matches mismatch result results scope scopes sent source verified',
);
/** Words that describe a secret only at the end of a name: `token_expires_in`. */
const ABOUT_LAST: ReadonlySet<string> = new Set(['at', 'in', 'on', 'since', 'until']);
/** Words that ask whether there is a secret: `has_password`. */
const QUESTIONS: ReadonlySet<string> = words('has hide is needs require requires show supports');

/** Words for a password in scripts whose letters are not those of names in code. */
const OTHER_SCRIPTS =
  /парол|лозинк|κωδικ|סיסמ|كلمة.?(?:السر|المرور)|पासवर्ड|รหัสผ่าน|密码|密碼|口令|パスワード|暗証番号|비밀번호|hasł[oa]/iu;

const NAME_LENGTH_MAX = 100;
const NAMES_REMEMBERED_MAX = 4_000;
const judged = new Map<string, boolean>();

/** Whether a value by this name is kept as `[filtered]`: `X-Api-Key`, `dbPassword`, `new_password2`, `pin_code`. */
export function isSecretName(name: string): boolean {
  if (name.length > NAME_LENGTH_MAX) return isSecretName(name.slice(-NAME_LENGTH_MAX));
  let isSecret = judged.get(name);
  if (isSecret === undefined) {
    if (judged.size >= NAMES_REMEMBERED_MAX) judged.clear();
    judged.set(name, (isSecret = OTHER_SCRIPTS.test(name) || judge(wordsOf(name))));
  }
  return isSecret;
}

/** Names of members that only the name of their object makes secret: `{"api":{"key":"…"}}`. */
const OF_OBJECT = /^(?:keys?|codes?|no|num|number|id|answer|tokens)$/i;

/** Whether a member of an object of that name is kept as `[filtered]`; `owner` is called only where it decides. */
export function isSecretMember(owner: () => string, name: string): boolean {
  return OF_OBJECT.test(name) && isSecretName(`${owner()} ${name}`);
}

/** Splits a name into words, in lower case, without accents and numbers; an escape (`%5B`) separates words. */
function wordsOf(name: string): readonly string[] {
  return name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/%[0-9a-f]{2}/gi, ' ')
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, ' ')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '');
}

function judge(words: readonly string[]): boolean {
  if (words.length > 1 && QUESTIONS.has(words[0] ?? '')) return false;
  const phrase = PHRASES.exec(` ${words.join(' ')} `);
  if (phrase !== null) {
    const behind = ` ${words.join(' ')} `.slice(phrase.index + phrase[0].length).split(' ');
    if (isHeld(behind.filter((word) => word !== ''))) return true;
  }
  return words.some((word, index) => {
    const behind = words.slice(index + 1);
    if (LAST_WORDS.has(word)) return behind.every((after) => CARRIERS.has(after));
    return (SECRET_WORDS.has(word) || COMPOUNDS.test(word)) && isHeld(behind);
  });
}

/** Whether the value is the secret itself, by the words behind the one that names it. The last of them says most. */
function isHeld(behind: readonly string[]): boolean {
  const last = behind.at(-1);
  if (last === undefined || CARRIERS.has(last)) return true;
  return !ABOUT_LAST.has(last) && !behind.some((word) => ABOUT.has(word));
}
