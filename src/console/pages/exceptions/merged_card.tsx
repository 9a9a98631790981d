import { Alert, Button } from '@mantine/core';
import { IconArrowMerge } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';

import type { ExceptionOverview } from '#console/api/exceptions.ts';
import { withoutBidiControls } from '#console/components/text/bidi.ts';
import { Card, Row } from '#console/components/card.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { countText } from '#console/pages/exceptions/count_text.ts';
import classes from '#console/pages/exceptions/overview_cards.module.css';
import { useSplit } from '#console/pages/exceptions/use_merge.ts';

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
          aria-label={`Split off ${withoutBidiControls(title)}`}
        >
          Split off
        </Button>
      )}
    </Row>
  );
  const rest = newestFirst.slice(SHOWN);
  return (
    <Card
      title="Merged into this one"
      about={`${countText(merged.length, 'other exception')}, by people or because the templates of their messages became one. One that is split off takes its events with it.`}
      rows={newestFirst.slice(0, SHOWN).map(rowOf)}
    >
      {rest.length > 0 && (
        <details className={classes.more}>
          <summary>{countText(rest.length, 'earlier one')}</summary>
          <ul className={classes.rest}>{rest.map(rowOf)}</ul>
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
      <p className={classes.part}>
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
          Split off
        </Button>
      )}
    </Alert>
  );
}
