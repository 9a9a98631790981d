/** Length of a text as SMS segments: GSM 03.38 in 7 bits, or UCS-2 as soon as one character is outside it. */
export interface SmsSize {
  readonly encoding: 'GSM-7' | 'UCS-2';
  readonly segments: number;
}

const GSM_BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
const GSM_ESCAPED = '^{}\\[~]|€\f';

const basic = new Set(GSM_BASIC);
const escaped = new Set(GSM_ESCAPED);

export function measureSms(text: string): SmsSize {
  const characters = Array.from(text);
  if (characters.every((character) => basic.has(character) || escaped.has(character))) {
    const septets = characters.length + characters.filter((character) => escaped.has(character)).length;
    return { encoding: 'GSM-7', segments: segmentsOf(septets, 160, 153) };
  }
  return { encoding: 'UCS-2', segments: segmentsOf(text.length, 70, 67) };
}

function segmentsOf(length: number, single: number, each: number): number {
  return length <= single ? 1 : Math.ceil(length / each);
}
