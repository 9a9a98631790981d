import { Button, Group, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { invoke, type ResultOf, topicKey } from '#console/api/actions.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { LoadMore } from '#console/components/lists/load_more.tsx';
import { Status, type Tone } from '#console/components/status.tsx';
import { Name } from '#console/components/text/name.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { type Verdict, VERDICTS } from '#modules/moving_in/decide/ledger.ts';
import classes from '#console/pages/move_in/move_in.module.css';
import { TOOL_SOURCES } from '#modules/moving_in/decide/tool_names.ts';

const VERDICT_TONES: Record<Verdict, Tone> = {
  exact: 'green',
  compiled: 'green',
  horizon: 'amber',
  frozen: 'amber',
  refused: 'red',
};

const MEANINGS: Record<Verdict, string> = {
  exact: 'The same here as there.',
  compiled: 'In another form, with the same people at each minute unless the reason says otherwise.',
  horizon: 'Written down until a date.',
  frozen: 'As it is today.',
  refused: 'Not taken over.',
};

/** Card on what was read, by verdict, and on the proof. */
export function ReportCard({ moveIn }: { readonly moveIn: MoveIn }) {
  const { org } = useOrganization();
  const [verdict, setVerdict] = useState<Verdict>('refused');
  const { summary, moveInId, tool } = moveIn;
  const saving = useMutation({
    mutationFn: (what: 'markdown' | 'file') => wholeText(org.orgId, moveInId, what),
    onSuccess: (text, what) => saveText(what === 'file' ? `move-in-${tool}.yaml` : `move-in-${tool}.md`, text),
  });
  if (summary === null) return null;
  return (
    <Card
      title="Report"
      about={Object.entries(summary.read)
        .map(([kind, count]) => `${count.toLocaleString()} ${kind.replaceAll('_', ' ')}`)
        .join(', ')}
    >
      <Stack gap="md">
        <Proof summary={summary} />
        <Group gap="xs" role="group" aria-label="Verdict">
          {VERDICTS.map((name) => (
            <Button
              key={name}
              variant={name === verdict ? 'filled' : 'default'}
              size="sm"
              aria-pressed={name === verdict}
              onClick={() => setVerdict(name)}
            >
              {name} {(summary.verdicts[name] ?? 0).toLocaleString()}
            </Button>
          ))}
        </Group>
        <Text size="sm" c="dimmed">
          {MEANINGS[verdict]}
        </Text>
        <Items key={`${moveInId} ${verdict}`} moveInId={moveInId} verdict={verdict} />
        {saving.isError && <ErrorAlert title="Nothing was saved" error={saving.error} />}
        <Group gap="xs">
          <Button variant="default" loading={saving.isPending} onClick={() => saving.mutate('markdown')}>
            Report as Markdown
          </Button>
          <Button variant="default" loading={saving.isPending} onClick={() => saving.mutate('file')}>
            Configuration file
          </Button>
        </Group>
      </Stack>
    </Card>
  );
}

/** Sentence on the minutes that are equal, with the schedules that differ and why. */
function Proof({ summary }: { readonly summary: NonNullable<MoveIn['summary']> }) {
  const { minutes, equal, schedules, different } = summary;
  if (minutes === 0) return <Text size="sm">No schedule was read, so there is nothing to prove.</Text>;
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Status tone={equal === minutes ? 'green' : 'amber'}>{equal === minutes ? 'Proven' : 'Differs'}</Status>
        <Text size="sm">
          {equal.toLocaleString()} of {minutes.toLocaleString()} minutes of {schedules.toLocaleString()}{' '}
          {schedules === 1 ? 'schedule' : 'schedules'} are equal.
        </Text>
      </Group>
      {different.map(({ schedule, against, minutes: all, equal: same, causes }) => (
        <Text key={`${schedule} ${against}`} size="sm">
          <Name>{schedule}</Name> differs at {(all - same).toLocaleString()} minutes from the {against}:{' '}
          {causes.join(' ')}
        </Text>
      ))}
    </Stack>
  );
}

function Items({ moveInId, verdict }: { readonly moveInId: string; readonly verdict: Verdict }) {
  const { org } = useOrganization();
  const list = useInfiniteQuery({
    queryKey: [...topicKey(org.orgId, 'settings'), 'list_move_in_items', moveInId, verdict],
    queryFn: ({ pageParam, signal }) =>
      invoke(org.orgId, 'list_move_in_items', { moveInId, verdict, after: pageParam }, signal),
    initialPageParam: -1,
    getNextPageParam: ({ next }) => next,
  });
  const { data, error, refetch } = list;
  const items = data?.pages.flatMap((page) => page.items) ?? [];
  if (error !== null && items.length === 0) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (data !== undefined && items.length === 0) return <Text size="sm">Nothing.</Text>;
  return (
    <>
      <ul className={`${classes.items} plain-list`}>
        {items.map(({ position, kind, id, name, reason, todo, here }) => (
          <li key={position}>
            <div className={classes.itemHead}>
              <Status tone={VERDICT_TONES[verdict]}>{kind.replaceAll('_', ' ')}</Status>
              <b className="shrinks">
                <Name>{name === '' ? id : name}</Name>
              </b>
              <HereLink here={here} />
            </div>
            {reason !== '' && <Text size="sm">{reason}</Text>}
            {todo !== '' && (
              <Text size="sm" c="dimmed">
                {todo}
              </Text>
            )}
          </li>
        ))}
      </ul>
      <LoadMore list={list} />
    </>
  );
}

function HereLink({ here }: { readonly here: ResultOf<'list_move_in_items'>['items'][number]['here'] }) {
  switch (here?.kind) {
    case 'team':
      return (
        <Link to="/oncall/teams/$teamId" params={{ teamId: here.id }}>
          Its team here
        </Link>
      );
    case 'schedule':
      return (
        <Link to="/oncall/schedules/$scheduleId" params={{ scheduleId: here.id }}>
          Its schedule here
        </Link>
      );
    case 'policy':
      return (
        <Link to="/oncall/policies/$policyId" params={{ policyId: here.id }}>
          Its policy here
        </Link>
      );
    case 'service':
      return (
        <Link to="/services/$serviceId" params={{ serviceId: here.id }}>
          Its service here
        </Link>
      );
    default:
      return null;
  }
}

/** Fetches a text part by part. */
async function wholeText(orgId: string, moveInId: string, what: 'markdown' | 'file'): Promise<string> {
  const parts: string[] = [];
  for (let from: number | null = 0; from !== null;) {
    const { text, next }: { text: string; next: number | null } = await invoke(orgId, 'get_move_in_text', {
      moveInId,
      what,
      from,
    });
    parts.push(text);
    from = next;
  }
  return parts.join('');
}

/** Saves a text as a file. */
function saveText(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

export type MoveIn = NonNullable<ResultOf<'get_move_in'>['moveIn']>;

/** Whether the server works on the move, so that it will soon be another. */
export function isWorkedOn(moveIn: MoveIn | null): boolean {
  if (moveIn === null) return false;
  const { status, plan, fault } = moveIn;
  return status === 'reading' || status === 'applying' || (status === 'read' && plan === null && fault === null);
}

export function titleOf(tool: string): string {
  return new Map<string, { title: string }>(Object.entries(TOOL_SOURCES)).get(tool)?.title ?? tool;
}
