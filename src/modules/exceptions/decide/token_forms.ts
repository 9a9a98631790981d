/** Forms of tokens that are known by their form, each with the first characters that are always the same. */
const FORMS: readonly string[] = [
  String.raw`eyJ[\w-]{8,4000}\.[\w-]{8,4000}(?:\.[\w-]{0,4000})?`,
  String.raw`eyJrIjoi[\w-]{60,400}={0,2}`,
  'AKIA[0-9A-Z]{16}',
  'ASIA[0-9A-Z]{16}',
  'AROA[0-9A-Z]{16}',
  'AIDA[0-9A-Z]{16}',
  'ABIA[0-9A-Z]{16}',
  'ACCA[0-9A-Z]{16}',
  'AIza[\\w-]{35}',
  'AKCp[A-Za-z0-9]{60,80}',
  'ATATT3[\\w=-]{100,300}',
  'ATCTT3[\\w=-]{100,300}',
  'ATBB[A-Za-z0-9]{32}',
  'AGE-SECRET-KEY-1[0-9A-Z]{50,60}',
  'AAAA[\\w-]{7}:[\\w-]{100,200}',
  'API-[A-Z0-9]{26}',
  'gh[pousr]_[A-Za-z0-9]{30,255}',
  String.raw`github_pat_\w{22,255}`,
  String.raw`gl(?:pat|dt|rt|ptt|cbt|ft|soat|imt|agent|ffct)-[\w-]{20,255}`,
  String.raw`glc_[\w+/=-]{32,400}`,
  String.raw`glsa_\w{32,60}`,
  String.raw`GR1348941[\w-]{20}`,
  String.raw`GOCSPX-[\w-]{20,40}`,
  String.raw`gsk_[A-Za-z0-9]{40,80}`,
  String.raw`xox[abeoprs][.-][\w.-]{10,255}`,
  String.raw`xapp-[\w-]{20,255}`,
  String.raw`xkeysib-[\w-]{60,120}`,
  String.raw`xsmtpsib-[\w-]{60,120}`,
  'xai-[A-Za-z0-9]{60,120}',
  '(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,255}',
  String.raw`sk-(?:ant-|proj-|svcacct-|admin-|or-v1-)?[\w-]{20,255}`,
  'SK[a-f0-9]{32}',
  String.raw`SG\.[\w-]{16,64}\.[\w-]{16,64}`,
  String.raw`sl\.[\w-]{100,200}`,
  String.raw`sntrys_[\w+/=]{40,400}`,
  'sntryu_[a-f0-9]{40,80}',
  'shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}',
  String.raw`sq0(?:atp|csp)-[\w-]{20,50}`,
  'secret_[A-Za-z0-9]{43}',
  'sgp_(?:[a-f0-9]{16}_)?[a-f0-9]{40}',
  'sbp_[a-f0-9]{40}',
  String.raw`sb_secret_[\w-]{20,60}`,
  String.raw`whsec_[\w+/=]{16,255}`,
  String.raw`ya29\.[\w-]{20,500}`,
  String.raw`1//0[\w-]{30,200}`,
  'npm_[A-Za-z0-9]{36}',
  'nfp_[A-Za-z0-9]{36}',
  'ntn_[A-Za-z0-9]{40,60}',
  String.raw`pypi-[\w-]{50,255}`,
  String.raw`pat-[a-z]{2}\d-[a-f0-9-]{36}`,
  String.raw`pscale_(?:tkn|pw|oauth)_[\w.-]{30,64}`,
  'pul-[a-f0-9]{40}',
  'ph[cx]_[A-Za-z0-9]{40,50}',
  'pplx-[A-Za-z0-9]{40,60}',
  'p8e-[A-Za-z0-9]{32}',
  'PMAK-[a-f0-9]{24}-[a-f0-9]{34}',
  'do[opr]_v1_[a-f0-9]{64}',
  String.raw`dckr_pat_[\w-]{20,60}`,
  String.raw`dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}`,
  String.raw`duffel_(?:live|test)_[\w=-]{43}`,
  'ddp_[A-Za-z0-9]{36}',
  'dapi[a-f0-9]{32}(?:-[0-9])?',
  'hf_[A-Za-z0-9]{30,64}',
  String.raw`hv[sb]\.[\w-]{80,300}`,
  String.raw`HRKU-[\w-]{36,80}`,
  'key-[a-f0-9]{32}',
  'lin_api_[A-Za-z0-9]{40}',
  'rubygems_[a-f0-9]{48}',
  'rnd_[A-Za-z0-9]{28}',
  'rzp_(?:live|test)_[A-Za-z0-9]{14}',
  'r8_[A-Za-z0-9]{37}',
  're_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}',
  'NRAK-[A-Z0-9]{27}',
  String.raw`NRII-[\w-]{32}`,
  'NRJS-[a-f0-9]{19}',
  String.raw`FlyV1 fm[12][ar]?_[\w+/=]{40,400}`,
  String.raw`FLWSECK(?:_TEST)?-[a-fA-F0-9]{12,32}-X`,
  'vercel_[A-Za-z0-9]{24}',
  String.raw`v1\.0-[a-f0-9]{24}-[a-f0-9]{140,160}`,
  'tfp_[A-Za-z0-9]{59}',
  'tvly-[A-Za-z0-9]{32}',
  'tk-us-[A-Za-z0-9]{48}',
  'tocsin_[a-z]{3}_[A-Za-z0-9]{8,255}',
  String.raw`access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}`,
  String.raw`amzn\.mws\.[a-f0-9-]{36}`,
  'mlsn\\.[a-f0-9]{60,70}',
  String.raw`fig[do]_[\w-]{40}`,
  String.raw`CFPAT-[\w-]{43}`,
  'CLOJARS_[a-z0-9]{60}',
  String.raw`CCIPAT_[A-Za-z0-9]{22}_[a-f0-9]{40}`,
  String.raw`ops_eyJ[\w+/=-]{200,600}`,
  'oy2[a-z0-9]{43}',
  'EZ[AT]K[A-Za-z0-9]{54}',
  'EAA[A-Za-z0-9]{50,300}',
  'ion_[A-Za-z0-9]{42}',
  'ICP_[A-Za-z0-9]{40}',
  'bkua_[a-f0-9]{40}',
];

/** Forms without a distinctive beginning: each is searched for if the text holds its distinctive part. */
const OTHER_FORMS: readonly (readonly [part: string, form: RegExp])[] = [
  ['.atlasv1.', /(?<![\w-])[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,70}/g],
  ['-us', /(?<![\w-])[a-f0-9]{32}-us\d{1,2}(?!\d)/g],
  [':AA', /(?<![\w-])\d{8,10}:AA[\w-]{33}(?![\w-])/g],
];

/** Forms by their first two characters, so that only few are tried where a word begins. */
const BY_START = new Map<number, RegExp>();
const starts = Map.groupBy(
  FORMS.flatMap((form) => startsOf(form).map((start) => [start, form] as const)),
  ([start]) => start,
);
for (const [start, forms] of starts) {
  const either = forms.map(([, form]) => form).join('|');
  BY_START.set(codeOf(start, 0), new RegExp(`(?:${either})(?![A-Za-z0-9])`, 'y'));
}

/** Returns the beginnings of a form: `gh` for `gh[pousr]_…`; both for `(?:sk|rk)_…`. */
function startsOf(form: string): string[] {
  const [, choice] = /^\(\?:([a-z|]+)\)/.exec(form) ?? [];
  return choice === undefined ? [form.replaceAll('\\', '').slice(0, 2)] : choice.split('|');
}

function codeOf(text: string, at: number): number {
  return text.charCodeAt(at) * 65_536 + text.charCodeAt(at + 1);
}

/** Whether the character is part of a word; a dash is. */
function isWord(code: number): boolean {
  const isLetter = (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
  return isLetter || (code >= 48 && code <= 57) || code === 95 || code === 45;
}

/** Replaces each token in a text. Takes time linear in the text. */
export function replaceTokens(text: string, replacement: string): string {
  const parts: string[] = [];
  let kept = 0;
  let wasWord = false;
  for (let at = 0; at < text.length; at += 1) {
    const isInWord = isWord(text.charCodeAt(at));
    const form = isInWord && !wasWord ? BY_START.get(codeOf(text, at)) : undefined;
    wasWord = isInWord;
    if (form === undefined) continue;
    form.lastIndex = at;
    if (!form.test(text)) continue;
    parts.push(text.slice(kept, at), replacement);
    kept = form.lastIndex;
    at = kept - 1;
  }
  const clean = kept === 0 ? text : parts.join('') + text.slice(kept);
  return OTHER_FORMS.reduce((all, [part, form]) => (all.includes(part) ? all.replace(form, replacement) : all), clean);
}

/** Numbers of 13 to 19 digits, grouped as people write them. */
const DIGITS = /(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-]|\.\d)/g;

/** Replaces numbers of cards by what they are. */
export function replaceCards(text: string): string {
  return text.replace(DIGITS, (digits) => (isCard(digits) ? '[card number]' : digits));
}

/** Whether it is a card number, by the issuer's prefix and length and Luhn's check digit; others are ids and times. */
function isCard(digits: string): boolean {
  const number = digits.replaceAll(/[ -]/g, '');
  return CARDS.some((form) => form.test(number)) && hasLuhnDigit(number);
}

const CARDS = [
  /^4(?:\d{12}|\d{15}|\d{18})$/,
  /^(?:5[1-5]\d\d|22[2-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}$/,
  /^3[47]\d{13}$/,
  /^(?:6011|64[4-9]\d|65\d\d)\d{12}$/,
  /^3(?:0[0-5]|[689]\d)\d{11}$/,
  /^35(?:2[89]|[3-8]\d)\d{12}$/,
  /^62\d{14,17}$/,
];

function hasLuhnDigit(number: string): boolean {
  let sum = 0;
  for (let place = 0; place < number.length; place += 1) {
    const digit = Number(number[number.length - 1 - place]);
    const counted = place % 2 === 0 ? digit : digit * 2;
    sum += counted > 9 ? counted - 9 : counted;
  }
  return sum % 10 === 0;
}
