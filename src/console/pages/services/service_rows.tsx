import { Skeleton } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { Link } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react';

import type { OpenCounts, Service } from '#console/api/actions.ts';
import type { ServiceHealth } from '#console/api/services.ts';
import { CAPABILITY_NAMES } from '#console/components/text/capability.ts';
import { wholeNumberText } from '#console/components/text/formats.ts';
import { Name } from '#console/components/text/name.tsx';
import { Sparkline } from '#console/components/sparkline.tsx';
import { Status } from '#console/components/status.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { shortCount } from '#console/pages/exceptions/count_text.ts';
import classes from '#console/pages/services/service_rows.module.css';
import type { useServices } from '#console/pages/services/use_services.ts';

/** Height of a row, as in the style sheet. */
const ROW_PX = 60;
const ROW_ON_PHONE_PX = 108;
const OVERSCAN = 12;

type ServiceRowsProps = Pick<
  ReturnType<typeof useServices>,
  'rows' | 'total' | 'openOf' | 'healthOf' | 'hasMore' | 'loadMore'
>;

/** List of any number of services, of which only the rows on the screen are drawn. */
export function ServiceRows({ rows, total, openOf, healthOf, hasMore, loadMore }: ServiceRowsProps) {
  const list = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => setTop((list.current?.getBoundingClientRect().top ?? 0) + window.scrollY), []);
  const isPhone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const height = isPhone ? ROW_ON_PHONE_PX : ROW_PX;
  const count = hasMore ? Math.max(total, rows.length) : rows.length;
  const virtualizer = useWindowVirtualizer({
    count,
    estimateSize: () => height,
    overscan: OVERSCAN,
    scrollMargin: top,
    getItemKey: (index) => rows[index]?.serviceId ?? index,
  });
  useEffect(() => virtualizer.measure(), [virtualizer, height]);
  const shown = virtualizer.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  const more = useEffectEvent(loadMore);
  const isShort = hasMore && last >= rows.length - 1;
  useEffect(() => {
    if (isShort) more();
  }, [isShort, rows.length]);
  return (
    <div className={classes.frame}>
      <div className={classes.head} aria-hidden>
        <span>Service</span>
        <span>Needs attention</span>
        <span>Exceptions, 24 h</span>
        <span>Last metric</span>
        <span>Rules</span>
      </div>
      <ul ref={list} className={classes.rows} style={{ height: virtualizer.getTotalSize() }} aria-label="Services">
        {shown.map(({ index, key, start }) => {
          const service = rows[index];
          return (
            <li
              key={key}
              className={classes.row}
              style={{ transform: `translateY(${start - top}px)` }}
              data-row={service?.serviceId}
              aria-setsize={count}
              aria-posinset={index + 1}
            >
              {service === undefined ? (
                <Skeleton height={20} width="40%" />
              ) : (
                <ServiceRow
                  service={service}
                  open={openOf.get(service.serviceId)}
                  health={healthOf.get(service.serviceId)}
                />
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

interface ServiceRowProps {
  readonly service: Service;
  readonly open: OpenCounts | undefined;
  readonly health: ServiceHealth | undefined;
}

function ServiceRow({ service, open, health }: ServiceRowProps) {
  const { serviceId, name, environment, capabilities } = service;
  const about = [environment, capabilities.map((capability) => CAPABILITY_NAMES[capability]).join(', ')];
  const sub = about.filter((text) => text !== null && text !== '').join(' · ');
  return (
    <>
      <div className={classes.name}>
        <Link to="/services/$serviceId" params={{ serviceId }} data-row-link>
          <Name>{name}</Name>
        </Link>
        <div className={classes.sub}>{sub === '' ? 'Nothing is enabled yet' : <Name>{sub}</Name>}</div>
      </div>
      <div className={classes.cell}>
        <Attention counts={open} refused={health?.refused ?? 0} />
      </div>
      <div className={classes.cell}>{health !== undefined && <Events service={service} health={health} />}</div>
      <div className={classes.cell}>{health !== undefined && <LastMetric service={service} health={health} />}</div>
      <div className={classes.cell}>{health !== undefined && <Rules service={service} health={health} />}</div>
    </>
  );
}

interface AttentionProps {
  readonly counts: OpenCounts | undefined;
  readonly refused: number;
}

/** Counts of open incidents, and of data that was refused. */
function Attention({ counts, refused }: AttentionProps) {
  if (counts === undefined && refused === 0) return <span className="dimmed">nothing</span>;
  return (
    <>
      {counts !== undefined && counts.triggered > 0 && (
        <Status tone="red" isUrgent>
          {counts.triggered} triggered
        </Status>
      )}
      {counts !== undefined && counts.triggered === 0 && (
        <Status tone="amber">{counts.acknowledged} acknowledged</Status>
      )}
      {refused > 0 && <Status tone="amber">{shortCount(refused)} refused</Status>}
    </>
  );
}

interface HealthProps {
  readonly service: Service;
  readonly health: ServiceHealth;
}

function Events({ service, health: { events } }: HealthProps) {
  if (!service.capabilities.includes('exceptions')) return <span className="dimmed">–</span>;
  const total = events.reduce((sum, count) => sum + count, 0);
  const text = `${wholeNumberText(total)} ${total === 1 ? 'event' : 'events'}`;
  if (total === 0) return <span className="dimmed">none</span>;
  return (
    <span className={classes.spark} title={`${text} in the last 24 hours`}>
      <Sparkline values={events} label={`${text} in the last 24 hours`} tone="red" height={20} />
      <span className="numbers">{shortCount(total)}</span>
    </span>
  );
}

function LastMetric({ service, health: { lastPointAt } }: HealthProps) {
  if (!service.capabilities.includes('metrics')) return <span className="dimmed">–</span>;
  return lastPointAt === null ? <span className="dimmed">none yet</span> : <Timestamp at={lastPointAt} />;
}

function Rules({ service, health: { rules, pagingRules } }: HealthProps) {
  if (!service.capabilities.includes('oncall')) return <span className="dimmed">–</span>;
  if (rules === 0) return <span className="dimmed">none</span>;
  return (
    <span>
      <span className="numbers">{rules}</span>
      {pagingRules === 0 && <span className="dimmed">, pages nobody</span>}
    </span>
  );
}
