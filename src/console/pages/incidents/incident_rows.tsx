import { useMediaQuery } from '@mantine/hooks';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { memo, useCallback, useEffect, useRef, useState } from 'react';

import type { FoundIncident } from '#console/api/actions.ts';
import classes from '#console/pages/incidents/incident_list.module.css';
import { IncidentRow } from '#console/pages/incidents/incident_row.tsx';

interface IncidentRowsProps {
  readonly label: string;
  readonly incidents: readonly FoundIncident[];
  /** Total, including rows not loaded yet. */
  readonly total: number;
  /** Whether the rows belong to the previous filter, and are replaced soon. */
  readonly areOld: boolean;
  readonly isSelected: (incident: FoundIncident) => boolean;
  /** Called on a selection; without it, the person may not answer incidents. */
  readonly onSelect?: (incidentId: string, isSelected: boolean) => void;
  readonly onAcknowledge: (incidentId: string) => void;
}

/** Usual height of a row, used until it is measured. */
const DESK_PX = 61;
const PHONE_PX = 150;
/** Rows rendered outside of the window, so that `j` and `k` always find the next one. */
const OVERSCAN = 10;

/** List of any number of incidents, of which only the rows in sight are in the document. */
export function IncidentRows(props: IncidentRowsProps) {
  const { label, incidents, total, areOld, isSelected, onSelect, onAcknowledge } = props;
  const list = useRef<HTMLUListElement>(null);
  const isPhone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const top = useOffsetTop(list);
  const rows = useWindowVirtualizer({
    count: incidents.length,
    estimateSize: () => (isPhone ? PHONE_PX : DESK_PX),
    overscan: OVERSCAN,
    // All rows of the screen are drawn at first, in pieces, and not at once after the list was drawn empty.
    initialRect: { width: innerWidth, height: innerHeight },
    scrollMargin: top,
    getItemKey: (index) => incidents[index]?.incidentId ?? index,
  });
  const mayAnswer = onSelect !== undefined;
  const latest = useRef({ onSelect, onAcknowledge });
  useEffect(() => {
    latest.current = { onSelect, onAcknowledge };
  });
  const select = useCallback((id: string, isOn: boolean) => latest.current.onSelect?.(id, isOn), []);
  const acknowledge = useCallback((id: string) => latest.current.onAcknowledge(id), []);
  const shown = rows.getVirtualItems();
  const [first, last] = [shown.at(0), shown.at(-1)];
  return (
    <ul
      ref={list}
      className={classes.list}
      aria-label={label}
      aria-busy={areOld}
      style={{
        paddingTop: first === undefined ? 0 : first.start - top,
        paddingBottom: last === undefined ? 0 : rows.getTotalSize() - (last.end - top),
      }}
    >
      {shown.map(({ index }) => {
        const incident = incidents[index];
        if (incident === undefined) return null;
        return (
          <Row
            key={incident.incidentId}
            incident={incident}
            index={index}
            count={total}
            isSelected={isSelected(incident)}
            measure={rows.measureElement}
            onSelect={mayAnswer ? select : undefined}
            onAcknowledge={acknowledge}
          />
        );
      })}
    </ul>
  );
}

interface RowProps {
  readonly incident: FoundIncident;
  readonly index: number;
  readonly count: number;
  readonly isSelected: boolean;
  measure(row: HTMLLIElement | null): void;
  readonly onSelect: ((incidentId: string, isSelected: boolean) => void) | undefined;
  onAcknowledge(incidentId: string): void;
}

/** Row that is rendered again only if it changes, not each time the list is scrolled. */
const Row = memo(function Row({ incident, index, count, isSelected, measure, onSelect, onAcknowledge }: RowProps) {
  const { incidentId } = incident;
  return (
    <IncidentRow
      incident={incident}
      measured={{ ref: measure, index, count }}
      isSelected={isSelected}
      {...(onSelect !== undefined && {
        onSelect: (selected: boolean) => onSelect(incidentId, selected),
        onAcknowledge: () => onAcknowledge(incidentId),
      })}
    />
  );
});

/** Returns the distance of the list from the top of the page. Banners above it come and go. */
function useOffsetTop(list: React.RefObject<HTMLElement | null>): number {
  const [top, setTop] = useState(0);
  useEffect(() => {
    const measure = (): void => {
      if (list.current !== null) setTop(Math.round(list.current.getBoundingClientRect().top + window.scrollY));
    };
    measure();
    const observer = new ResizeObserver(measure);
    const main = document.querySelector('main');
    if (main !== null) observer.observe(main);
    return () => observer.disconnect();
  }, [list]);
  return top;
}
