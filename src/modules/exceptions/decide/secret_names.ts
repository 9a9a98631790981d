const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/**
 * Words that make a name secret wherever they are in it, unless a later word shows that the value only describes one.
 */
const SECRET_WORDS: ReadonlySet<string> = words(
  'authorization bearer cardnumber ccv contrasena losenord salasana credential credentials csc csrf cvc cvv iban jsessionid jwt kennwort masterauth mnemonic keypass mypass passcode passphrase passwd password passwords passwort phpsessid requirepass pswd pwd secret senha sessionid signature samlresponse ssn storepass token userpass wachtwoord xsrf adgangskode creds geslo haslo heslo jelszo kodeord magstripe otpauth parola passkey passord shibsession pinblock psk pwhash sifre trackdata',
);
/** Words with other meanings inside a name (`pass_rate`, `auth_flow`): secret only if nothing but carriers follows. */
const LAST_WORDS: ReadonlySet<string> = words('auth cookie cookies hmac mtan otp pass pin pw secrets sid sig totp');
/** Words that follow a secret in its name: `pin_code`, `auth_header`, `pass_phrase`. */
const CARRIERS: ReadonlySet<string> = words(
  'again code codes confirm confirmation confirmed data digest hash header headers input jar key new number old phrase plain raw repeat repeated string text value values verify word',
);
const KEY_OWNERS =
  'access|account|admin|aes|algolia|anthropic|api|app|auth|authenticator|aws|azure storage|cert|certificate|cloudflare|cohere|consumer|crypto|datadog|decryption|deploy|encryption|fastly|fcm|fernet|gcp sa|gpg|hmac|integration|jwt|licence|license|mailchimp|mailgun|master|openai|pass|pem|pgp|private|product|recovery|rsa|secret|sendgrid|server|service|session|shared|signing|ssh|ssl|stripe|subscription|tacacs|tls|twilio|webhook|wep|wi fi|wifi|wpa';
const CODE_OWNERS =
  'access|activation|alarm|auth|authorization|backup|card|confirmation|device|door|email|fa|gate|invitation|invite|login|mfa|one time|otp|pairing|pin|recovery|reset|security|sms|tan|tfa|two factor|unlock|verification|verify';
/** Words that are secret together, between blanks. Numbers are left out: `2fa_code` is ` fa code `. */
const PHRASES = new RegExp(
  ` (?:(?:${KEY_OWNERS}) keys?|(?:${CODE_OWNERS}) codes?|(?:access|api|auth|bearer|id|refresh|session) tokens|session id|(?:card|cc|credit card|debit card) (?:no|num|number)|(?:credit|debit) card|bank account|passport (?:no|num|number)|national (?:id|insurance number)|(?:conn|db|database) str|pin block|security (?:question )?(?:answer|number)|social security|maiden name|rsa private|private pem|(?:cookie|crypto|hash|session) (?:pepper|salt)|sasl jaas config|snmp community|community string|stripe sk|wallet seed|card verification value|mot de passe|(?:recovery|seed) phrase|connection string|(?:client|jwt|saml) assertion|saml response|(?:code|oauth) verifier|(?:gh|git ?hub|git ?lab) pat|(?:login|magic|reset) link|wordpress logged in|(?:adonis|beaker|ci|codeigniter|django|flask|gorilla|host|koa|laravel|phoenix|play|rails|remix|secure|symfony) session) `,
);
/** Secret words written as one. */
const COMPOUNDS =
  /(?:(?:admin|bind|db|root|user)pw|password|passwd|passwort|passcode|passphrase|motdepasse|secret|token|cvv|cvc|(?:api|access|auth|encryption|master|private|secret|signing|ssh|ssl|tls)keys?|sessionid|(?:security|pin|otp|auth|access|verification|sms|mfa|tfa|twofactor|onetime|unlock|reset|recovery)code|ccnum(?:ber)?|creditcard|connectionstring|^(?:admin|db|ftp|login|mail|mysql|redis|root|smtp)pass)(?:again|box|check|confirm|confirmation|digest|hash|new|old|repeat|value|verify)?$/;
/** Words for a property of a secret, which is none itself: `token_count`, `secret_name`, `cookie_consent_version`. */
const ABOUT: ReadonlySet<string> = words(
  'address age alg algorithm amount arn attempts balance bucket budget button changed column contract consent count counts created date decimals dialog disabled domain enabled endpoint expiration expired expires expiry fee fees file ids index issued label issuer length lifetime limit max min modal mode name names page path placeholder policy present price provider ref reference refs rate required requirements reset retries rules score screen size status strength supply symbol time timestamp tries ttl type updated uri url usage used valid version visibility visible error errors failures format matched matches mismatch result results scope scopes sent source verified',
);
/** Words before "pin" of one that is none: `mapPin`, `gpio_pin`. */
const OTHER_PINS: ReadonlySet<string> = words('drop gpio header led location map push safety spinner');
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
    if (word === 'pin' && OTHER_PINS.has(words[index - 1] ?? '')) return false;
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
