import type { CSSProperties } from 'react';

import { personColor } from '#modules/schedules/decide/person_color.ts';

/** Returns the variables `--person-light` and `--person-dark`, from which style sheets take the colour of a person. */
export function personStyle(userId: string | null): CSSProperties {
  if (userId === null) return {};
  const { light, dark } = personColor(userId);
  return { '--person-light': light, '--person-dark': dark } as CSSProperties;
}
