import { createContext, type CSSProperties, useContext } from 'react';

import classes from '#console/components/text/person_dot.module.css';
import { personColor } from '#modules/schedules/decide/person_color.ts';

/** Returns the number of somebody's colour; undefined while it is not known, and for those who have left. */
export type ColorOf = (userId: string) => number | undefined;

const ColorContext = createContext<ColorOf>(() => undefined);

/** Provides the colours of people to what shows them, by the data that holds their names. */
export const PersonColors = ColorContext.Provider;

/** Returns the colours that `PersonColors` provides. */
export const usePersonColors = (): ColorOf => useContext(ColorContext);

interface PersonDotProps {
  readonly userId: string;
  /** Number of their colour, where the data of a row has it; else it is provided by `PersonColors`. */
  readonly color?: number | null;
}

/** Dot in the colour of a person before their name. */
export function PersonDot({ userId, color }: PersonDotProps) {
  const providedColor = usePersonColors()(userId);
  return <span className={classes.dot} style={personStyle(color ?? providedColor)} aria-hidden />;
}

/** Returns the variables `--person-light`, `--person-dark` and `--person-mark`, from which style sheets take a colour. */
export function personStyle(color: number | null | undefined): CSSProperties {
  if (color == null) return {};
  const { light, dark, mark } = personColor(color);
  return { '--person-light': light, '--person-dark': dark, '--person-mark': mark } as CSSProperties;
}

/** Returns one or two letters for the avatar of a person. */
export function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/);
  const [first = '', last = ''] = [words[0], words.length > 1 ? words.at(-1) : ''];
  return `${first.charAt(0)}${last?.charAt(0) ?? ''}`.toUpperCase();
}
