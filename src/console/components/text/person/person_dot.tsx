import type { CSSProperties } from 'react';

import classes from '#console/components/text/person/person_dot.module.css';
import { personColor } from '#modules/schedules/decide/person_color.ts';

/** Dot in the colour of a person, before their name. */
export function PersonDot({ userId }: { readonly userId: string }) {
  return <span className={classes.dot} style={personStyle(userId)} aria-hidden />;
}

/** Returns the variables `--person-light` and `--person-dark`, from which style sheets take the colour of a person. */
export function personStyle(userId: string | null): CSSProperties {
  if (userId === null) return {};
  const { light, dark } = personColor(userId);
  return { '--person-light': light, '--person-dark': dark } as CSSProperties;
}

/** Returns one or two letters for the avatar of a person. */
export function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/);
  const [first = '', last = ''] = [words[0], words.length > 1 ? words.at(-1) : ''];
  return `${first.charAt(0)}${last?.charAt(0) ?? ''}`.toUpperCase();
}
