/** Encoding of an SMS, which decides what fits into it. */
export interface SmsAlphabet {
  /** Length of the longest message, counted as `lengthOf` does. */
  readonly lengthMax: number;
  /** Length of a title that takes precedence over a link. */
  readonly titleMin: number;
  lengthOf(text: string): number;
  /** Returns the text in letters that the alphabet has, on one line. */
  clean(text: string): string;
}

/** Letters of the basic table of GSM 03.38 (3GPP TS 23.038 6.2.1) that are not ASCII. */
const GSM_LETTERS = '£¥èéùìòÇØøÅåΔΦΓΛΩΠΨΣΘΞÆæßÉ¤¡ÄÖÑÜ§¿äöñüà';
/** Character of the extension table that texts keep. */
const GSM_EXTENDED = '€';
/** The extension table, whose characters count as two; addresses may have those of ASCII. */
const COUNTED_TWICE = /[€^{}\\[~\]|]/g;
const NOT_GSM = new RegExp(`[^\\x20-\\x7E${GSM_LETTERS}${GSM_EXTENDED}]`, 'gu');

/** Latin letters that Unicode does not decompose. */
const PLAIN: Readonly<Record<string, string>> = {
  ł: 'l',
  Ł: 'L',
  đ: 'd',
  Đ: 'D',
  ð: 'd',
  Ð: 'D',
  þ: 'th',
  Þ: 'Th',
  œ: 'oe',
  Œ: 'OE',
  ħ: 'h',
  Ħ: 'H',
  ı: 'i',
  ŋ: 'n',
  Ŋ: 'N',
  ŧ: 't',
  Ŧ: 'T',
  ẞ: 'SS',
};

/** Alphabet of one segment in 7 bits. */
const GSM: SmsAlphabet = {
  lengthMax: 160,
  titleMin: 20,
  lengthOf: (text) => text.length + (text.match(COUNTED_TWICE)?.length ?? 0),
  clean: (text) =>
    onOneLine(
      toGsm(text)
        .replaceAll(NOT_GSM, '?')
        .replaceAll(/[[\]{}|~^\\]/g, ' '),
    ),
};

/** Alphabet of two segments of 67 UTF-16 units each; one has no room for how to reply. */
const UCS2: SmsAlphabet = {
  lengthMax: 134,
  titleMin: 40,
  lengthOf: (text) => text.length,
  clean: (text) =>
    onOneLine(
      typographic(text)
        .normalize('NFC')
        .toWellFormed()
        // Removes characters that are invisible or change direction; joiners are part of how some scripts are written.
        .replaceAll(/(?![\u200C\u200D])\p{Cf}/gu, '')
        .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')
        .replaceAll(/[\p{Co}\p{Cn}\uFFFD]/gu, '?'),
    ),
};

/** Returns the alphabet for a message with these texts: GSM 03.38 while it has every letter and digit of them. */
export function alphabetFor(texts: readonly string[]): SmsAlphabet {
  const missing = texts.flatMap((text) => toGsm(text).match(NOT_GSM) ?? []);
  return missing.some((character) => /[\p{L}\p{N}]/u.test(character)) ? UCS2 : GSM;
}

/** Keeps the letters that GSM 03.38 has, and takes the accents off those that it has not. */
function toGsm(text: string): string {
  return typographic(text)
    .normalize('NFC')
    .replaceAll('°', '')
    .replaceAll(/[^\x20-\x7E]/gu, (character) => {
      if (GSM_LETTERS.includes(character) || GSM_EXTENDED.includes(character)) return character;
      const plain = character.normalize('NFKD').replaceAll(/\p{M}/gu, '');
      return plain.replaceAll(/[^\x20-\x7E]/gu, (letter) => PLAIN[letter] ?? letter);
    });
}

function typographic(text: string): string {
  return text
    .replaceAll(/[µμ]/g, 'u')
    .replaceAll(/[“”„]/g, '"')
    .replaceAll(/[‘’`]/g, "'")
    .replaceAll(/[–—]/g, '-')
    .replaceAll('…', '..');
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
