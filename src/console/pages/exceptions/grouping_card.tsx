import { Button } from '@mantine/core';
import { useState } from 'react';

import type { ExceptionOverview } from '#console/api/exceptions.ts';
import { Card } from '#console/components/card.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { countText } from '#console/pages/exceptions/count_text.ts';
import classes from '#console/pages/exceptions/overview_cards.module.css';
import { useShortcut } from '#console/shell/keyboard.ts';

const MergeInto = lazyDialog(() => import('#console/pages/exceptions/merge_into.tsx').then((m) => m.MergeInto));

interface GroupingCardProps {
  readonly overview: ExceptionOverview;
  readonly mayMerge: boolean;
}

/** Card on why the events are one group, and the commands to change that. */
export function GroupingCard({ overview, mayMerge }: GroupingCardProps) {
  const { grouping, mergedInto } = overview;
  const [isMerging, setIsMerging] = useState(false);
  const canMerge = mayMerge && mergedInto === null;
  useShortcut('m', () => {
    if (canMerge) setIsMerging(true);
  });
  const { version, isCurrent, furtherKeys, template, parts } = grouping;
  return (
    <Card
      title="Why these events are one group"
      about="All of them have these parts in common. The hash of the parts is the key of the group."
      action={
        canMerge && (
          <Button size="xs" variant="default" onClick={() => setIsMerging(true)}>
            Merge into …
          </Button>
        )
      }
    >
      {parts.map(({ strategy, because, lines }, index) => (
        // Parts never change places.
        // eslint-disable-next-line react/no-array-index-key
        <div key={index} className={classes.group} data-strategy={strategy}>
          <h3 className={classes.key}>By {because}</h3>
          {lines.length > 0 && <HashedLines lines={lines} />}
        </div>
      ))}
      {template !== null && (
        <div className={classes.group}>
          <h3 className={classes.key}>The template that its messages have</h3>
          <HashedLines lines={[template.text]} />
          <p className={classes.note}>
            {template.isPinned
              ? 'Somebody split it off, so it stays as it is.'
              : 'Learnt from messages of this service. Every message that fits it comes here.'}
          </p>
        </div>
      )}
      <p className={classes.note}>
        {[...parts.flatMap(({ lines }) => lines), template?.text ?? ''].some((line) => PLACEHOLDER.test(line)) &&
          'Words in < > stand for what differs: <number> for any number, <*> for any text. '}
        Grouping version {version}
        {isCurrent ? '' : ', an older one: its events keep coming here'}
        {furtherKeys > 0 && `, with ${countText(furtherKeys, 'key')} of other versions`}.
      </p>
      {isMerging && <MergeInto overview={overview} onClose={() => setIsMerging(false)} />}
    </Card>
  );
}

const PLACEHOLDER = /<[a-z*]{1,12}>/;

function HashedLines({ lines }: { readonly lines: readonly string[] }) {
  return (
    <ol className={classes.lines}>
      {lines.map((line, position) => (
        // Lines never change places.
        // eslint-disable-next-line react/no-array-index-key
        <li key={position}>{line}</li>
      ))}
    </ol>
  );
}
