import { Button, Popover } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { useState } from 'react';

import { dateTimeText } from '#console/components/text/time_text.ts';
import classes from '#console/components/time_chart/trace_dots.module.css';
import { IconCheck, IconCopy, IconExternalLink } from '#console/icons.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { traceUrl } from '#modules/metrics/decide/trace_link.ts';
import type { PlotArea } from './plot.ts';

/** Single observation, with the trace in which it was made. */
export interface TraceDot {
  readonly at: number;
  readonly value: number;
  readonly traceId: string;
}

interface TraceDotsProps {
  readonly dots: readonly TraceDot[];
  readonly area: PlotArea;
  readonly from: number;
  readonly to: number;
  /**
   * Whether the dots stand at their values; false if the axis shows something other than observations: then they stand
   * at the bottom.
   */
  readonly isAtValue: boolean;
  readonly valueText: (value: number) => string;
}

/** Dots of observations, for the mouse and for fingers; a list beside the chart holds the same for everybody else. */
export function TraceDots({ dots, area, from, to, isAtValue, valueText }: TraceDotsProps) {
  const [open, setOpen] = useState<string | null>(null);
  return (
    <div className={classes.dots} aria-hidden>
      {dots.map((dot) => {
        const key = `${dot.traceId} ${dot.at}`;
        const share = (dot.value - area.min) / (area.max - area.min || 1);
        const height = isAtValue ? Math.min(Math.max(share, 0), 1) : 0;
        const left = area.left + ((dot.at - from) / (to - from)) * area.width;
        if (dot.at < from || dot.at > to) return null;
        return (
          <Popover
            key={key}
            opened={open === key}
            onChange={() => setOpen(null)}
            position="top"
            withArrow
            shadow="none"
          >
            <Popover.Target>
              <button
                type="button"
                tabIndex={-1}
                className={classes.dot}
                data-beyond={isAtValue && (share < 0 || share > 1) ? '' : undefined}
                style={{ left, top: area.top + (1 - height) * area.height }}
                onPointerDown={(event) => event.stopPropagation()}
                onClick={() => setOpen(open === key ? null : key)}
              />
            </Popover.Target>
            <Popover.Dropdown className={classes.popover}>
              <p className={classes.about}>
                <b>{valueText(dot.value)}</b>, {dateTimeText(dot.at)}
              </p>
              <TraceId traceId={dot.traceId} />
            </Popover.Dropdown>
          </Popover>
        );
      })}
    </div>
  );
}

/** Id of a trace, with a link if the organization has set where it looks at traces. */
export function TraceId({ traceId }: { readonly traceId: string }) {
  const { traceLink } = useOrganization().org;
  const clipboard = useClipboard({ timeout: 2_000 });
  return (
    <span className={`${classes.trace} row wraps spaced tiny shrinks`}>
      <code>{traceId}</code>
      <Button
        size="compact-xs"
        variant="default"
        leftSection={clipboard.copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
        onClick={() => clipboard.copy(traceId)}
      >
        {clipboard.copied ? 'Copied' : 'Copy trace id'}
      </Button>
      {traceLink !== null && (
        <Button
          size="compact-xs"
          variant="default"
          rightSection={<IconExternalLink size={14} />}
          component="a"
          href={traceUrl(traceLink, traceId)}
          target="_blank"
          rel="noreferrer"
        >
          Open the trace
        </Button>
      )}
    </span>
  );
}
