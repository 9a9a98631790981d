import classes from '#console/components/text/person/person_dot.module.css';
import { personStyle } from '#console/components/text/person/person_style.ts';

/** Dot in the colour of a person, before their name. */
export function PersonDot({ userId }: { readonly userId: string }) {
  return <span className={classes.dot} style={personStyle(userId)} aria-hidden />;
}
