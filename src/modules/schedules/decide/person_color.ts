/** Colour and mark of a person. */
interface PersonColor {
  /** Background for the name, for each scheme. */
  readonly light: string;
  readonly dark: string;
  /** Line at the lower edge of a bar or a dot, for those who see some colours alike. */
  readonly mark: 'none' | 'solid' | 'dotted';
}

/**
 * Colours of people, of which members get those that the fewest have. The text is readable on each. Any two differ for
 * people with protanopia, deuteranopia and tritanopia, too, and the four with the same mark differ much more.
 */
export const PERSON_COLORS: readonly PersonColor[] = [
  { light: '#e06978', dark: '#4a2435', mark: 'none' },
  { light: '#93a0ff', dark: '#0d6ab9', mark: 'none' },
  { light: '#e3d350', dark: '#7d3b02', mark: 'none' },
  { light: '#75eeff', dark: '#00297e', mark: 'none' },
  { light: '#9378dc', dark: '#6b3793', mark: 'solid' },
  { light: '#e59d54', dark: '#661000', mark: 'solid' },
  { light: '#b9ffd2', dark: '#1b6b4c', mark: 'solid' },
  { light: '#6dcae8', dark: '#011b59', mark: 'solid' },
  { light: '#f6ff82', dark: '#636e04', mark: 'dotted' },
  { light: '#a7d0ae', dark: '#00534a', mark: 'dotted' },
  { light: '#b18000', dark: '#440000', mark: 'dotted' },
  { light: '#4d9fa7', dark: '#00003f', mark: 'dotted' },
];

/** Returns the colour with a number. */
export function personColor(number: number): PersonColor {
  const color = PERSON_COLORS[number % PERSON_COLORS.length];
  if (color === undefined) throw new Error(`${number} is not the number of a colour`);
  return color;
}
