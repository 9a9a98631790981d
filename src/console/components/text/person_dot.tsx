import { createContext, type CSSProperties, Fragment, useContext } from 'react';

import { withoutBidiControls } from '#console/components/text/bidi.ts';
import { Name } from '#console/components/text/name.tsx';
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

interface PersonProps {
  /** Null for a team, a key or a program, which have no colour. */
  readonly userId: string | null;
  readonly color?: number | null;
  readonly children: string;
}

/** Name of a person behind their dot; no line ends between both. */
export function Person({ userId, color, children }: PersonProps) {
  if (userId === null) return <Name>{children}</Name>;
  return (
    <span className={classes.person}>
      <PersonDot userId={userId} {...(color !== undefined && { color })} />
      <Name>{children}</Name>
    </span>
  );
}

interface PeopleProps {
  readonly people: readonly { readonly userId: string; readonly name: string; readonly color?: number | null }[];
  readonly between?: string;
}

/** Names of people, each behind their dot. */
export function People({ people, between = ', ' }: PeopleProps) {
  return people.map(({ name, ...dot }, index) => (
    <Fragment key={dot.userId}>
      {index > 0 && between}
      <Person {...dot}>{name}</Person>
    </Fragment>
  ));
}

/** Returns the variables `--person-light`, `--person-dark` and `--person-mark`, from which style sheets take a colour. */
export function personStyle(color: number | null | undefined): CSSProperties {
  if (color == null) return {};
  const { light, dark, mark } = personColor(color);
  return { '--person-light': light, '--person-dark': dark, '--person-mark': mark } as CSSProperties;
}

interface BarNameProps {
  /** Name of a person, or names with commas between. */
  readonly name: string;
  /** Text for a bar without room for a first name. */
  readonly short: string;
  readonly mark?: string;
}

/** Name in a bar: the whole, the first names or a short text, whichever has room; the bar itself has the label. */
export function BarName({ name, short, mark = '' }: BarNameProps) {
  const shown = withoutBidiControls(name);
  const first = shown.replaceAll(/([^\s,]+)(?: [^,]+)?/g, '$1');
  const room = { '--whole': mark.length + shown.length, '--first': mark.length + first.length } as CSSProperties;
  return (
    <span className={classes.bar} style={room} aria-hidden>
      <span className={classes.whole}>
        {mark}
        <bdi>{shown}</bdi>
      </span>
      <span className={classes.first}>
        {mark}
        <bdi>{first}</bdi>
      </span>
      <span className={classes.initials}>
        <bdi>{short}</bdi>
      </span>
    </span>
  );
}

/** Returns two letters for a person where a name has no room; none for a name of one letter, which says nothing. */
export function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/);
  const [first = '', last] = [words[0], words.length > 1 ? words.at(-1) : undefined];
  const letters = last === undefined ? first.slice(0, 2) : `${first.charAt(0)}${last.charAt(0)}`;
  return letters.length < 2 ? '' : letters.toUpperCase();
}
