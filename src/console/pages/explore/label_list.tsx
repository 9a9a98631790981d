import { Button, TextInput } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { invoke, type ResultOf, topicKey } from '#console/api/actions.ts';
import { useDebounced } from '#console/components/use_debounced.ts';
import classes from '#console/pages/explore/explore.module.css';
import { IconFilter, IconFilterOff, IconSearch } from '#console/icons.ts';
import { metricNameOf } from '#console/pages/explore/explore_queries.ts';
import type { ExploreSearch } from '#console/pages/explore/explore_search.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import type { LabelCondition } from '#modules/metrics/decide/selector_text.ts';

type LabelEntry = ResultOf<'describe_labels'>['labels'][number];

interface LabelListProps {
  readonly serviceId: string;
  readonly search: ExploreSearch;
  readonly labels: readonly LabelEntry[];
  /** Number of labels, those that are not listed too. */
  readonly labelCount: number;
  /** Number of series; null until it is known. */
  readonly seriesCount: number | null;
  onSplit(label: string): void;
  /** Called with a condition; null if the metric is a whole selector. */
  readonly onFilter: ((condition: LabelCondition) => void) | null;
}

/** List of the labels by which the series of a metric differ, with their values and shares. */
export function LabelList({ serviceId, search, labels, labelCount, seriesCount, onSplit, onFilter }: LabelListProps) {
  if (seriesCount === null || seriesCount === 0) return null;
  return (
    <div className={classes.labels}>
      <h3 className={classes.labelsTitle}>
        Labels of {seriesCount === 1 ? '1 series' : `${seriesCount.toLocaleString('en')} series`}
      </h3>
      {labels.length === 0 && <p className={`${classes.none} dimmed small`}>These series have no labels.</p>}
      {labelCount > labels.length && (
        <p className={`${classes.none} dimmed small`}>
          {labelCount - labels.length} more labels are not listed: name one in the selector.
        </p>
      )}
      <div className={classes.labelGrid}>
        {labels.map((label) => (
          <Label
            key={label.label}
            serviceId={serviceId}
            search={search}
            label={label}
            seriesCount={seriesCount}
            onSplit={onSplit}
            onFilter={onFilter}
          />
        ))}
      </div>
    </div>
  );
}

interface LabelProps extends Omit<LabelListProps, 'labels' | 'labelCount' | 'seriesCount'> {
  readonly label: LabelEntry;
  readonly seriesCount: number;
}

const SHOWN = 5;
const ALL = 200;

function Label({ serviceId, search, label, seriesCount, onSplit, onFilter }: LabelProps) {
  const { orgId } = useOrganization().org;
  const [isOpen, setIsOpen] = useState(false);
  const [typed, setTyped] = useState('');
  const text = useDebounced(typed.trim());
  const wanted = {
    serviceId,
    metricName: metricNameOf(search),
    label: label.label,
    valuesMax: ALL,
    ...(text !== '' && { text }),
  };
  const { data } = useQuery({
    queryKey: [...topicKey(orgId, 'metrics'), 'describe_labels', wanted],
    queryFn: ({ signal }) => invoke(orgId, 'describe_labels', wanted, signal),
    enabled: isOpen,
    placeholderData: keepPreviousData,
  });
  const all = isOpen ? (data?.labels[0] ?? (data === undefined ? label : null)) : label;
  const values = all?.values.slice(0, isOpen ? ALL : SHOWN) ?? [];
  const left = (all?.valueCount ?? 0) - values.length;
  const without = left > 0 || text !== '' ? 0 : seriesCount - values.reduce((sum, value) => sum + value.seriesCount, 0);
  return (
    <section className="shrinks" aria-label={`Label ${label.label}`}>
      <div className={`${classes.labelHead} row spaced small`}>
        <b>{label.label}</b>
        <span className={`${classes.facts} dimmed tiny numbers`}>
          {label.valueCount === 1 ? '1 value' : `${label.valueCount.toLocaleString('en')} values`}
        </span>
        <Button
          size="compact-sm"
          variant={search.split === label.label ? 'light' : 'subtle'}
          disabled={search.split === label.label}
          onClick={() => onSplit(label.label)}
        >
          Split<span className="hidden-text"> by {label.label}</span>
        </Button>
      </div>
      {isOpen && (
        <TextInput
          size="xs"
          aria-label={`Search the values of ${label.label}`}
          placeholder="Search values"
          leftSection={<IconSearch size={14} />}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      )}
      <ul className={`${classes.values} plain-list`}>
        {values.map(({ value, seriesCount: valueSeriesCount }) => (
          <li key={value} className={`${classes.value} row small`}>
            <span
              className={classes.share}
              style={{ width: `${(100 * valueSeriesCount) / Math.max(seriesCount, 1)}%` }}
            />
            <bdi className={`${classes.valueName} ellipsis grow`} title={value}>
              {value}
            </bdi>
            <span className={`${classes.facts} dimmed tiny numbers`}>
              {shareText(valueSeriesCount / Math.max(seriesCount, 1))}
            </span>
            {onFilter !== null && (
              <>
                <FilterButton
                  label={`Only ${label.label} ${value}`}
                  onClick={() => onFilter({ label: label.label, operator: '=', value })}
                >
                  <IconFilter size={14} />
                </FilterButton>
                <FilterButton
                  label={`Without ${label.label} ${value}`}
                  onClick={() => onFilter({ label: label.label, operator: '!=', value })}
                >
                  <IconFilterOff size={14} />
                </FilterButton>
              </>
            )}
          </li>
        ))}
        {without > 0 && (
          <li className={`${classes.value} row small`}>
            <span className={classes.share} style={{ width: `${(100 * without) / seriesCount}%` }} />
            <span className={`${classes.valueName} dimmed grow`}>without this label</span>
            <span className={`${classes.facts} dimmed tiny numbers`}>{shareText(without / seriesCount)}</span>
          </li>
        )}
      </ul>
      {isOpen && data !== undefined && all === null && (
        <p className={`${classes.none} dimmed small`}>No value contains this text.</p>
      )}
      {!isOpen && label.valueCount > SHOWN && (
        <Button size="compact-sm" variant="subtle" onClick={() => setIsOpen(true)}>
          Show all<span className="hidden-text"> values of {label.label}</span>
        </Button>
      )}
      {isOpen && left > 0 && (
        <p className={`${classes.none} dimmed small`}>{left.toLocaleString('en')} more: search to find them.</p>
      )}
    </section>
  );
}

interface FilterButtonProps {
  readonly label: string;
  readonly onClick: () => void;
  readonly children: React.ReactNode;
}

function FilterButton({ label, onClick, children }: FilterButtonProps) {
  return (
    <button type="button" className={classes.filter} aria-label={label} title={label} onClick={onClick}>
      {children}
    </button>
  );
}

function shareText(share: number): string {
  const percent = share * 100;
  if (percent > 0 && percent < 1) return '<1%';
  return `${Math.round(percent)}%`;
}

/** Field of a whole selector, with its labels in the text. */
export function SelectorField({ selector, onChange }: { readonly selector: string; onChange(selector: string): void }) {
  const [text, setText] = useState(selector);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') onChange(text.trim());
      }}
    >
      <TextInput
        label="Metric and labels"
        description='As in PromQL: name{label="value", other!="value", third=~"pattern"}'
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        rightSectionWidth={72}
        rightSection={
          <Button type="submit" size="compact-sm" variant="light" disabled={text.trim() === selector}>
            Show
          </Button>
        }
      />
    </form>
  );
}
