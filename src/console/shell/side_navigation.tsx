import { NAVIGATION } from '#console/shell/navigation.ts';
import { Place } from '#console/shell/place.tsx';
import classes from '#console/shell/shell.module.css';

const GROUPS = ['respond', 'watch', 'own'] as const;

/** All rooms, at the side of a desktop. */
export function SideNavigation() {
  return (
    <nav aria-label="Main navigation">
      {GROUPS.map((group) => (
        <div key={group} className={classes.group}>
          {NAVIGATION.filter((place) => place.group === group).map((place) => (
            <Place key={place.to} place={place} />
          ))}
        </div>
      ))}
    </nav>
  );
}
