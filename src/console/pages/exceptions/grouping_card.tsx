import { Alert, Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import type { ExceptionOverview } from '#console/api/exceptions.ts';
import { Card, Row } from '#console/components/card.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { withoutBidiControls } from '#console/components/text/bidi.ts';
import { Name } from '#console/components/text/name.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { IconArrowMerge } from '#console/icons.ts';
import { countText } from '#console/pages/exceptions/count_text.ts';
import { useSplit } from '#console/pages/exceptions/use_merge.tsx';
import { useShortcut } from '#console/shell/keyboard.ts';
import classes from '#console/pages/exceptions/overview_cards.module.css';

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
          <p className={`${classes.note} dimmed tiny`}>
            {template.isPinned
              ? 'Somebody split it off, so it stays as it is.'
              : 'Learnt from messages of this service. Every message that fits it comes here.'}
          </p>
        </div>
      )}
      <p className={`${classes.note} dimmed tiny`}>
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
    <ol className={`${classes.lines} flush mono`}>
      {lines.map((line, position) => (
        // Lines never change places.
        // eslint-disable-next-line react/no-array-index-key
        <li key={position}>{line}</li>
      ))}
    </ol>
  );
}

interface MergedProps {
  readonly overview: ExceptionOverview;
  readonly maySplit: boolean;
}

const SHOWN = 8;

/** Card of the parts of an exception: each part can be split off again. */
export function MergedCard({ overview: { merged }, maySplit }: MergedProps) {
  const splitting = useSplit();
  if (merged.length === 0) return null;
  const newestFirst = merged.toReversed();
  const rowOf = ({ groupId, title, because, lines, mergedAt }: (typeof merged)[number]) => (
    <Row
      key={groupId}
      title={<span title={title}>{withoutBidiControls(title)}</span>}
      sub={
        <>
          <div title={`By ${because}`}>
            <code className={classes.hashed}>{withoutBidiControls(lines.join(' ') || because)}</code>
          </div>
          merged <Timestamp at={mergedAt} />
        </>
      }
    >
      {maySplit && (
        <Button
          size="xs"
          variant="default"
          loading={splitting.isPending && splitting.variables.includes(groupId)}
          disabled={splitting.isPending}
          onClick={() => splitting.mutate([groupId])}
          aria-label={`Separate ${withoutBidiControls(title)}`}
        >
          Separate
        </Button>
      )}
    </Row>
  );
  const rest = newestFirst.slice(SHOWN);
  return (
    <Card
      title="Merged into this one"
      about={`${countText(merged.length, 'other exception')}, by people or because the templates of their messages became one. One that is separated takes its events with it.`}
      rows={newestFirst.slice(0, SHOWN).map(rowOf)}
    >
      {rest.length > 0 && (
        <details className={classes.more}>
          <summary>{countText(rest.length, 'earlier one')}</summary>
          <ul className={`${classes.rest} plain-list`}>{rest.map(rowOf)}</ul>
        </details>
      )}
    </Card>
  );
}

/** Notice on the page of an exception that is part of another one. */
export function PartNotice({ overview: { groupId, mergedInto }, maySplit }: MergedProps) {
  const splitting = useSplit();
  if (mergedInto === null) return null;
  return (
    <Alert color="blue" variant="light" icon={<IconArrowMerge size={18} />} title="Part of another exception" mb="md">
      <p className="flush">
        Its events are counted, shown and decided on the page of{' '}
        <Link to="/exceptions/$groupId" params={{ groupId: mergedInto.groupId }}>
          <Name>{mergedInto.title}</Name>
        </Link>
        .
      </p>
      {maySplit && (
        <Button
          size="xs"
          variant="default"
          mt="xs"
          loading={splitting.isPending}
          onClick={() => splitting.mutate([groupId])}
        >
          Separate
        </Button>
      )}
    </Alert>
  );
}
