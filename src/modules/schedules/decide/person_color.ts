/** Background for the name of a person, for each scheme. */
interface PersonColor {
  readonly light: string;
  readonly dark: string;
}

/**
 * Colours of people, chosen so that the text is readable on each, and that any two differ as far as possible for people
 * with protanopia, deuteranopia and tritanopia, too. There are fewer than people, so a name always stands beside.
 */
const PERSON_COLORS: readonly PersonColor[] = [
  { light: '#f2a6ab', dark: '#6e351a' },
  { light: '#9085fb', dark: '#364ab5' },
  { light: '#bfeef7', dark: '#261f52' },
  { light: '#ea6f2f', dark: '#b52f48' },
  { light: '#49cffc', dark: '#1c248e' },
  { light: '#fce39f', dark: '#4c110a' },
  { light: '#b0cd39', dark: '#6b487a' },
  { light: '#c182a5', dark: '#4b2d3e' },
];

/** Returns the colour of a person, which follows from their id: the same everywhere and always. */
export function personColor(userId: string): PersonColor {
  let hash = 2_166_136_261;
  for (const character of userId) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619);
  // The last bits of such a hash are the most mixed ones.
  const color = PERSON_COLORS[(hash >>> 8) % PERSON_COLORS.length];
  if (color === undefined) throw new Error('there is a colour for every remainder');
  return color;
}
