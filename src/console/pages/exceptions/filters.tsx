import { Button, Checkbox, Group, NativeSelect } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type RefObject, useState } from 'react';

import { actionQuery } from '#console/api/actions.ts';
import { originsQuery } from '#console/api/exceptions.ts';
import { ActionMenu } from '#console/components/action_menu.tsx';
import { Choice } from '#console/components/forms/choice.tsx';
import { ServicePicker } from '#console/components/forms/service_picker.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { SearchField } from '#console/components/lists/search_field.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { useDebounced } from '#console/components/use_debounced.ts';
import { IconBookmark, IconFilter } from '#console/icons.ts';
import { type ExceptionFilter, readExceptionFilter } from '#console/pages/exceptions/exception_filter.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { GROUP_SORTS, type GroupSort } from '#modules/exceptions/decide/group_status.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import { parseSearchQuery } from '#modules/exceptions/decide/search_query.ts';
import classes from '#console/pages/exceptions/filters.module.css';

interface FiltersProps {
  readonly filter: ExceptionFilter;
  onChange(change: Partial<ExceptionFilter>): void;
  /** Called with the whole filter of a saved search. */
  onChoose(filter: ExceptionFilter): void;
  readonly searchField: RefObject<HTMLInputElement | null>;
}

const SEVERITIES = LEVELS.toReversed();

const SORT_NAMES: Record<GroupSort, string> = {
  last: 'Last seen',
  first: 'First seen',
  events: 'Most events',
  users: 'Most users',
};

const ASSIGNED_NAMES: Readonly<Record<string, string>> = {
  me: 'Assigned to me',
  my_teams: 'Assigned to me or my teams',
  nobody: 'Assigned to nobody',
};

/** Returns what is wrong with a search, as a sentence that begins with it. */
export function searchFault(text: string | undefined): string | null {
  const { fault } = parseSearchQuery(text ?? '');
  return fault === null ? null : `The search ${fault}.`;
}

export function Filters({ filter, onChange, onChoose, searchField }: FiltersProps) {
  const [isOpen, setIsOpen] = useState(false);
  const { service, severity, environment, release: chosenRelease, assigned, sort } = filter;
  const active = [service, severity, environment, chosenRelease, assigned, sort].filter(
    (value) => value !== undefined,
  ).length;
  return (
    <Group gap="xs" className={classes.filters} mod={{ open: isOpen }}>
      <Button
        variant="default"
        className={classes.toggle}
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
        leftSection={<IconFilter size={16} />}
      >
        {active === 0 ? 'Filters' : `Filters: ${active}`}
      </Button>
      <ServicePicker value={filter.service} onChange={(service) => onChange({ service })} />
      <NativeSelect
        aria-label="Severity"
        value={filter.severity ?? ''}
        onChange={(event) =>
          onChange({ severity: SEVERITIES.find((severity) => severity === event.currentTarget.value) })
        }
        data={[{ value: '', label: 'Any severity' }, ...SEVERITIES]}
      />
      <OriginPicker
        of="environment"
        serviceId={filter.service}
        value={filter.environment}
        onChange={(environment) => onChange({ environment })}
      />
      <OriginPicker
        of="release"
        serviceId={filter.service}
        value={filter.release}
        onChange={(release) => onChange({ release, ...(release === undefined && { isNew: undefined }) })}
      />
      {filter.release !== undefined && (
        <Checkbox
          label="New in this release"
          checked={filter.isNew !== undefined}
          onChange={(event) => onChange({ isNew: event.currentTarget.checked ? 'yes' : undefined })}
        />
      )}
      <NativeSelect
        aria-label="Assigned to"
        value={assigned ?? ''}
        onChange={(event) => onChange({ assigned: event.currentTarget.value || undefined })}
        data={[
          { value: '', label: 'Assigned to anyone' },
          ...Object.entries(ASSIGNED_NAMES).map(([value, label]) => ({ value, label })),
          ...(assigned === undefined || Object.hasOwn(ASSIGNED_NAMES, assigned)
            ? []
            : [{ value: assigned, label: assigned.startsWith('team_') ? 'One team' : 'One person' }]),
        ]}
      />
      <div className={classes.sort}>
        <NativeSelect
          aria-label="Sort by"
          value={filter.sort ?? 'last'}
          onChange={(event) =>
            onChange({ sort: GROUP_SORTS.find((candidate) => candidate === event.currentTarget.value) })
          }
          data={GROUP_SORTS.map((value) => ({ value, label: SORT_NAMES[value] }))}
        />
      </div>
      <SavedSearches filter={filter} onChoose={onChoose} />
      <SearchField
        ref={searchField}
        label="Search exceptions"
        placeholder="Text, user:42, file:app.ts"
        error={searchFault(filter.q)}
        value={filter.q}
        onChange={(q) => onChange({ q })}
      />
    </Group>
  );
}

interface OriginPickerProps {
  readonly of: 'environment' | 'release';
  readonly serviceId: string | undefined;
  readonly value: string | undefined;
  onChange(value: string | undefined): void;
}

const ORIGIN_LABELS = { environment: 'Environment', release: 'Release' } as const;

/** Picker of one of any number of environments or releases: the server searches for what is typed. */
function OriginPicker({ of, serviceId, value, onChange }: OriginPickerProps) {
  const { orgId } = useOrganization().org;
  const [isNear, setIsNear] = useState(false);
  const [typed, setTyped] = useState('');
  const text = useDebounced(typed.trim()).slice(0, 200);
  const { data } = useQuery({
    ...originsQuery(orgId, serviceId, text === '' ? {} : { [of]: text }),
    placeholderData: keepPreviousData,
    enabled: isNear,
  });
  const listed = data?.[`${of}s`] ?? [];
  return (
    <Choice
      label={ORIGIN_LABELS[of]}
      isLabelHidden
      placeholder={`Any ${of}`}
      options={withChosen(listed, value).map((origin) => ({ value: origin, label: isolateBidi(origin) }))}
      further={(data?.[`${of}sTotal`] ?? 0) - listed.length}
      value={value ?? null}
      onChange={(chosen) => onChange(chosen ?? undefined)}
      onSearch={setTyped}
      onNear={() => setIsNear(true)}
      emptyText={data === undefined ? 'Loading …' : `No ${of} has this name`}
      clearLabel={`Any ${of}`}
    />
  );
}

const SaveSearchDialog = lazyDialog(() =>
  import('#console/pages/exceptions/search/save_search_dialog.tsx').then((m) => m.SaveSearchDialog),
);

interface SavedSearchesProps {
  readonly filter: ExceptionFilter;
  onChoose(filter: ExceptionFilter): void;
}

/** Most searches in the menu: one's own first. The dialog lists all. */
const SHOWN = 12;

/** Menu of saved searches: one's own, and those that are shared. */
function SavedSearches({ filter, onChoose }: SavedSearchesProps) {
  const { orgId } = useOrganization().org;
  const [isNear, setIsNear] = useState(false);
  const [isOpen, setIsOpen] = useState(false);
  const { data } = useQuery({ ...actionQuery(orgId, 'exceptions', 'list_saved_searches', {}), enabled: isNear });
  const searches = (data?.searches ?? []).toSorted((a, b) => Number(b.isOwn) - Number(a.isOwn)).slice(0, SHOWN);
  return (
    <div onPointerEnter={() => setIsNear(true)} onFocus={() => setIsNear(true)}>
      <ActionMenu
        button={(props) => (
          <Button variant="default" leftSection={<IconBookmark size={16} />} {...props}>
            Saved searches
          </Button>
        )}
        entries={[
          ...searches.map(({ name, isShared, filter: saved }) => ({
            text: isShared ? `${isolateBidi(name)} (shared)` : isolateBidi(name),
            onClick: () => onChoose(readExceptionFilter(saved)),
          })),
          { text: 'Save or delete searches …', isApart: searches.length > 0, onClick: () => setIsOpen(true) },
        ]}
      />
      {isOpen && <SaveSearchDialog filter={filter} onClose={() => setIsOpen(false)} />}
    </div>
  );
}

/** Adds the chosen value, so that a value in the address that no longer exists can still be seen and cleared. */
function withChosen(values: readonly string[], chosen: string | undefined): readonly string[] {
  return chosen === undefined || values.includes(chosen) ? values : [chosen, ...values];
}
