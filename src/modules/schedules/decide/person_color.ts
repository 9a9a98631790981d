interface PersonColor {
  /** Background for the name, for each scheme. */
  readonly light: string;
  readonly dark: string;
  /** Line at the lower edge of a bar or a dot, for those who see some colours alike. */
  readonly mark: 'none' | 'solid' | 'dotted';
}

const MARKS = ['none', 'solid', 'dotted'] as const;

/**
 * Colours of people, of which members get those that the fewest have. The text is readable on each. Any two differ for
 * people with protanopia, deuteranopia and tritanopia, too, and the four with the same mark differ much more.
 */
export const PERSON_COLORS: readonly PersonColor[] = (
  [
    ['#e06978', '#4a2435'],
    ['#93a0ff', '#0d6ab9'],
    ['#e3d350', '#7d3b02'],
    ['#75eeff', '#00297e'],
    ['#9378dc', '#6b3793'],
    ['#e59d54', '#661000'],
    ['#b9ffd2', '#1b6b4c'],
    ['#6dcae8', '#011b59'],
    ['#f6ff82', '#636e04'],
    ['#a7d0ae', '#00534a'],
    ['#b18000', '#440000'],
    ['#4d9fa7', '#00003f'],
  ] as const
).map(([light, dark], number) => ({ light, dark, mark: MARKS[number >> 2] ?? 'none' }));

export function personColor(number: number): PersonColor {
  const color = PERSON_COLORS[number % PERSON_COLORS.length];
  if (color === undefined) throw new Error(`${number} is not the number of a colour`);
  return color;
}
