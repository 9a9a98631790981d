import { Button, Skeleton } from '@mantine/core';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';

import { eventQuery, type ExceptionEvent, type ExceptionOverview } from '#console/api/exceptions.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { IconChevronDown, IconChevronUp } from '#console/icons.ts';
import { countText, dayText } from '#console/pages/exceptions/count_text.ts';
import { EventExtras } from '#console/pages/exceptions/event/event_extras.tsx';
import { Frames, Stack } from '#console/pages/exceptions/event/stack.tsx';
import type { EventAddress } from '#console/pages/exceptions/exception_filter.ts';
import { fieldsOf, fieldText } from '#console/pages/exceptions/field_text.ts';
import { ConditionLink } from '#console/pages/exceptions/overview_cards.tsx';
import { ReleaseLink } from '#console/pages/exceptions/release_link.tsx';
import { useSplitMessage } from '#console/pages/exceptions/use_merge.tsx';
import { useShortcut } from '#console/shell/keyboard.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import classes from '#console/pages/exceptions/event/event_card.module.css';

interface EventCardProps {
  readonly overview: ExceptionOverview;
  readonly address: EventAddress;
  onAddress(address: EventAddress): void;
  onDay(day: string | undefined): void;
}

/** Card of one event of the group; j and k, or the buttons, lead to its neighbours. */
export function EventCard({ overview, address, onAddress, onDay }: EventCardProps) {
  const { groupId, serviceId, lastSeenAt } = overview;
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const { event: cursor, day } = address;
  const within = { groupId, ...(day !== undefined && { day }) };
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...eventQuery(orgId, { ...within, ...(cursor !== undefined && { cursor }) }),
    placeholderData: keepPreviousData,
  });
  const event = data?.events[0];
  const { newerCursor = null, olderCursor = null } = data ?? {};
  useEffect(() => {
    for (const next of [olderCursor, newerCursor]) {
      if (next === null) continue;
      const input = { groupId, ...(day !== undefined && { day }), cursor: next };
      void queryClient.prefetchQuery(eventQuery(orgId, input));
    }
  }, [queryClient, orgId, groupId, day, olderCursor, newerCursor]);

  const go = (next: string | null) => (): void => {
    if (next !== null && !isPlaceholderData) onAddress({ ...(day !== undefined && { day }), event: next });
  };
  useShortcut('j', go(olderCursor));
  useShortcut('k', go(newerCursor));

  if (error !== null && data === undefined) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton height={480} radius="lg" />;
  if (event === undefined) {
    return (
      <Card title="Event">
        {day === undefined ? noEventText(overview) : `There is no event on ${dayText(day)}.`}{' '}
        {day !== undefined && (
          <Button size="xs" variant="default" onClick={() => onDay(undefined)}>
            Show all days
          </Button>
        )}
      </Card>
    );
  }
  const hasNewest = newerCursor === null && Date.parse(lastSeenAt) <= Date.parse(event.at);
  const showNewest = (): void => {
    void queryClient.resetQueries({ queryKey: eventQuery(orgId, { groupId }).queryKey, exact: true });
    onAddress({});
  };
  return (
    <section aria-label="Event" className={classes.event} aria-busy={isPlaceholderData}>
      <div className="row wraps spaced apart">
        <div className="strong">
          <Timestamp at={event.at} format="date_time" />{' '}
          <span className="dimmed regular">
            (<Timestamp at={event.at} />)
          </span>
        </div>
        <div className={classes.steps}>
          {!hasNewest && day === undefined && (
            <Button size="xs" variant="subtle" onClick={showNewest}>
              Newest
            </Button>
          )}
          <Button
            size="xs"
            variant="default"
            leftSection={<IconChevronUp size={14} />}
            disabled={newerCursor === null}
            onClick={go(newerCursor)}
            title="Newer event (k)"
          >
            Newer
          </Button>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconChevronDown size={14} />}
            disabled={olderCursor === null}
            onClick={go(olderCursor)}
            title="Older event (j)"
          >
            Older
          </Button>
        </div>
      </div>
      <Origin event={event} serviceId={serviceId} />
      {event.trimmed.length > 0 && (
        <p className={classes.trimmed}>The event was larger than 1 MiB: its {listText(event.trimmed)} were left out.</p>
      )}
      <EventExtras groupId={groupId} eventId={event.eventId} />
      <Stack event={event} />
      <Threads event={event} />
      <Breadcrumbs event={event} />
      <EventData event={event} serviceId={serviceId} />
      <SplitMessage overview={overview} event={event.cursor} />
    </section>
  );
}

function noEventText({ grouping, eventCount }: ExceptionOverview): string {
  return eventCount === 0 && grouping.template?.isPinned === true
    ? 'It was separated from another exception, and no event has come since. Earlier events stay there.'
    : 'Its events are not stored any more.';
}

interface SplitMessageProps {
  readonly overview: ExceptionOverview;
  /** Cursor of the event. */
  readonly event: string;
}

/** Button that separates a message, for messages grouped by one template or one stack. */
function SplitMessage({ overview: { groupId, grouping, mergedInto, eventCount }, event }: SplitMessageProps) {
  const { may } = useOrganization();
  const navigate = useNavigate();
  const splitting = useSplitMessage(
    groupId,
    (splitId) => void navigate({ to: '/exceptions/$groupId', params: { groupId: splitId } }),
  );
  const { template, parts } = grouping;
  const isByFingerprint = template === null && parts.some(({ strategy }) => strategy === 'fingerprint');
  if (
    !may('exceptions:edit') ||
    mergedInto !== null ||
    eventCount < 2 ||
    isByFingerprint ||
    template?.isPinned === true
  )
    return null;
  return (
    <Button
      size="xs"
      variant="subtle"
      px={0}
      loading={splitting.isPending}
      onClick={() => splitting.mutate(event)}
      title="Messages that say the same as this event become an exception of their own from now on"
    >
      Grouped wrongly? Separate this message
    </Button>
  );
}

const LIST = new Intl.ListFormat('en');

function listText(parts: readonly string[]): string {
  return LIST.format(parts);
}

/** Fields of the search of exceptions, by what the origin of an event calls them. */
const SEARCHED: Readonly<Record<string, 'env' | 'transaction' | 'user'>> = {
  environment: 'env',
  transaction: 'transaction',
  user: 'user',
};

/** Origin of the event, in one line. */
function Origin({ event, serviceId }: { readonly event: ExceptionEvent; readonly serviceId: string }) {
  const { environment, release, serverName, transaction, user, isHandled, eventId } = event;
  const who = user === null ? null : (user.email ?? user.username ?? user.id ?? user.ip);
  const facts: readonly (readonly [string, string | null])[] = [
    ['environment', environment],
    ['release', release],
    ['transaction', transaction],
    ['user', who],
    ['server', serverName],
    ['dist', event.dist],
    ['handled', isHandled === null ? null : isHandled ? 'yes' : 'no'],
    ['event', eventId],
  ];
  return (
    <dl className={`${classes.origin} wraps tiny`}>
      {facts.map(([name, value]) =>
        value === null ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {name === 'release' && <ReleaseLink serviceId={serviceId} release={value} />}
              {SEARCHED[name] !== undefined && (
                <ConditionLink serviceId={serviceId} condition={{ field: SEARCHED[name], value }} />
              )}
              {name !== 'release' && SEARCHED[name] === undefined && <Name>{value}</Name>}
            </dd>
          </div>
        ),
      )}
    </dl>
  );
}

/** Card of the other threads at that moment, each with its name. */
function Threads({ event: { otherThreads } }: { readonly event: ExceptionEvent }) {
  if (otherThreads.length === 0) return null;
  return (
    <Card title="Other threads" about={`${countText(otherThreads.length, 'thread')} besides the one above`}>
      {otherThreads.map(({ id, name, state, crashed, frames }, index) => (
        <details
          // Threads may have neither names nor ids.
          // eslint-disable-next-line react/no-array-index-key
          key={index}
          className={classes.thread}
        >
          <summary>
            {name ?? `Thread ${id ?? index + 1}`}
            <span className={classes.facts}>
              {[crashed ? 'crashed' : null, state, countText(frames.length, 'frame')]
                .filter((fact) => fact !== null)
                .join(' · ')}
            </span>
          </summary>
          {frames.length > 0 && <Frames frames={frames.toReversed()} />}
        </details>
      ))}
    </Card>
  );
}

/** Card of the events before the exception, the newest last, as in a log. */
function Breadcrumbs({ event: { breadcrumbs } }: { readonly event: ExceptionEvent }) {
  if (breadcrumbs.length === 0) return null;
  return (
    <Card title="Breadcrumbs" about="What happened before, oldest first">
      <ol className={`${classes.crumbs} plain-list`}>
        {breadcrumbs.map(({ timestamp, type, category, level, message, data }, index) => {
          const details = fieldText(data);
          const said = message ?? details;
          return (
            // The same thing can happen many times.
            // eslint-disable-next-line react/no-array-index-key
            <li key={index} data-level={level}>
              <span className="dimmed nowrap numbers">
                {timestamp !== null && <Timestamp at={timestamp} format="clock" />}
              </span>
              <span className="ellipsis">{category ?? type ?? ''}</span>
              <span
                className={`${classes.said} mono`}
                title={message === null || details === '' ? said : `${said}\n${details}`}
              >
                {level !== null && level !== 'info' && <b>{level} </b>}
                {said}
                {message !== null && details !== '' && <span className="dimmed"> {details}</span>}
              </span>
            </li>
          );
        })}
      </ol>
    </Card>
  );
}

/** Card of all other data that the client sent with the event. */
function EventData({ event, serviceId }: { readonly event: ExceptionEvent; readonly serviceId: string }) {
  const { user, tags, request, contexts, extra, sdk, logger, platform, thread, dist, exceptions } = event;
  const mechanism = exceptions.at(-1)?.mechanism ?? null;
  const client = {
    platform,
    sdk: sdk === null ? null : `${sdk.name} ${sdk.version ?? ''}`.trim(),
    dist,
    logger,
    mechanism: mechanism?.type ?? null,
    thread: thread === null ? null : [thread.name, thread.id].filter((part) => part !== null).join(' '),
  };
  const sections = [
    ['Request', request],
    ['User', user],
    ['Tags of this event', tags],
    ['Contexts', contexts],
    ['Extra', extra],
    ['Mechanism', mechanism?.data],
    ['Client', client],
  ] as const;
  const modules = Object.entries(event.modules ?? {});
  return (
    <Card title="Sent with the event">
      {sections.map(([title, value]) => (
        <Fields key={title} title={title} value={value} taggedServiceId={value === tags ? serviceId : undefined} />
      ))}
      {modules.length > 0 && (
        <details className={classes.modules}>
          <summary>{countText(modules.length, 'installed package')}</summary>
          <Fields title="Packages" value={event.modules} />
        </details>
      )}
    </Card>
  );
}

interface FieldsProps {
  readonly title: string;
  readonly value: unknown;
  /** Service of these tags, among whose exceptions their values are searched; undefined for fields that are no tags. */
  readonly taggedServiceId?: string | undefined;
}

function Fields({ title, value, taggedServiceId }: FieldsProps) {
  const fields = fieldsOf(value);
  if (fields.length === 0) return null;
  return (
    <>
      <h3 className={classes.title}>{title}</h3>
      <dl className={classes.fields}>
        {fields.map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {taggedServiceId === undefined ? (
                text
              ) : (
                <ConditionLink serviceId={taggedServiceId} condition={{ field: 'tag', key: name, value: text }} />
              )}
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}
