import { Button } from '@mantine/core';

import classes from '#console/components/forms/draft_notice.module.css';

interface DraftConflictsProps {
  /** Fields that somebody else has changed, too, with both values as people read them. */
  readonly conflicts: readonly {
    readonly field: string;
    readonly label: string;
    readonly mine: string;
    readonly theirs: string;
    readonly onKeep: () => void;
    readonly onTake: () => void;
  }[];
}

/** Part of the notice of a draft in which a person chooses between their version and that of somebody else. */
export function DraftConflicts({ conflicts }: DraftConflictsProps) {
  return (
    <section className={classes.conflict} role="alert" aria-label="Somebody else changed this">
      <p className={classes.title}>Somebody else changed this while you were editing.</p>
      <p className={classes.about}>Choose what to keep. Nothing is saved before that.</p>
      {conflicts.map(({ field, label, mine, theirs, onKeep, onTake }) => (
        <div key={field} className={classes.field}>
          <b>{label}</b>
          <div className={classes.versions}>
            <Version whose="Yours" value={mine}>
              <Button size="xs" variant="default" onClick={onKeep} aria-label={`${label}: keep yours`}>
                Keep yours
              </Button>
            </Version>
            <Version whose="Theirs" value={theirs}>
              <Button size="xs" variant="default" onClick={onTake} aria-label={`${label}: take theirs`}>
                Take theirs
              </Button>
            </Version>
          </div>
        </div>
      ))}
    </section>
  );
}

interface VersionProps {
  readonly whose: string;
  readonly value: string;
  readonly children: React.ReactNode;
}

function Version({ whose, value, children }: VersionProps) {
  return (
    <div className={`${classes.version} stack shrinks`}>
      <span className={classes.whose}>{whose}</span>
      <span className={classes.value}>{value}</span>
      {children}
    </div>
  );
}
