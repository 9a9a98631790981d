import { Button, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';

import { type InputOf, invoke } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { Choice } from '#console/components/forms/choice.tsx';
import { CopyField } from '#console/components/forms/copy_field.tsx';
import { faultsAtFields } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { useDraftState } from '#console/components/forms/use_draft.ts';
import { ServicePicker } from '#console/components/forms/service_picker.tsx';
import { TeamPicker } from '#console/components/forms/team_picker.tsx';
import { named } from '#console/components/text/name.tsx';
import { IconPlus } from '#console/icons.ts';
import { type Place, routeText } from '#console/pages/places/place_texts.ts';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';
import { keysOf } from '#kernel/records.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import { PLACE_KINDS, placeDeclarationOf, type PlaceKind } from '#modules/places/decide/place_kinds.ts';

type Settings = InputOf<'create_place'>['settings'];

interface Values {
  readonly name: string;
  readonly routes: Place['routes'];
  /** Settings as typed, secrets among them. */
  readonly settings: Settings;
}

const LABELS = { name: 'Name', routes: 'What is announced', settings: 'Settings' };

const ALL = { serviceId: null, teamId: null, atLeast: null };

/** Dialog that adds a place, or changes one: its settings are then given whole or left as they are. */
export function PlaceForm({ place, onClose }: { readonly place: Place | null; readonly onClose: () => void }) {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const [kind, setKind] = useState<PlaceKind>(place?.kind ?? 'slack');
  const [values, setValues, draft] = useDraftState<Values>({
    form: `place ${place?.placeId ?? 'new'}`,
    base: { name: place?.name ?? '', routes: place?.routes ?? [ALL], settings: {} },
    secrets: ['settings'],
  });
  const { name, routes, settings } = values;
  const { fields, title } = placeDeclarationOf(kind);
  const filled = Object.fromEntries(Object.entries(settings).filter(([, value]) => value.trim() !== ''));
  const saving = useMutation({
    mutationFn: () =>
      place === null
        ? invoke(org.orgId, 'create_place', { kind, name: name.trim(), settings: filled, routes })
        : invoke(org.orgId, 'update_place', {
            placeId: place.placeId,
            name: name.trim(),
            routes,
            basedOn: { name: place.name, routes: place.routes },
            ...(Object.keys(filled).length > 0 && { settings: filled }),
          }),
    // The form shows what the other person has saved beside the input.
    onError: (error) => (isApiError(error, 409) ? refresh('settings') : undefined),
    async onSuccess({ signingSecret }) {
      draft.done();
      await refresh('settings');
      if (signingSecret === null) onClose();
    },
  });
  const shown = { name, settings };
  const faults = faultsAtFields(saving.error, shown);
  const faultOfSetting = (field: string): string | undefined =>
    isApiError(saving.error)
      ? saving.error.faults.find(({ path }) => path === `settings.${field}`)?.message
      : undefined;
  const secret = saving.data?.signingSecret ?? null;
  if (secret !== null) return <MadeSecret name={name} secret={secret} onClose={onClose} />;
  return (
    <FormDialog
      onClose={onClose}
      title={place === null ? 'Add a place' : named`Change ${place.name}`}
      isWide
      saving={saving}
      failure="Nothing was saved"
      atFields={shown}
      draft={draft}
      labels={LABELS}
      show={(field, value) => (field === 'routes' ? routesText(value as Routes) : String(value))}
      submit={place === null ? 'Add' : 'Save'}
      onSubmit={() => {
        if (draft.conflicts.length === 0) saving.mutate();
      }}
    >
      {place === null && (
        <Choice
          label="Kind"
          options={PLACE_KINDS.map((value) => ({ value, label: placeDeclarationOf(value).title }))}
          value={kind}
          onChange={(chosen) => {
            setKind(PLACE_KINDS.find((candidate) => candidate === chosen) ?? kind);
            setValues({ ...values, settings: {} });
          }}
        />
      )}
      <TextInput
        label="Name"
        required
        maxLength={100}
        error={faults['name']}
        value={name}
        onChange={(event) => setValues({ ...values, name: event.currentTarget.value })}
        data-autofocus
      />
      {place !== null && (
        <Text size="sm" c="dimmed">
          Leave the fields of {title} empty to keep what they are. To change one, type all of them again.
        </Text>
      )}
      {keysOf(fields).map((field) => (
        <TextInput
          key={field}
          label={fields[field]?.label}
          description={fields[field]?.help}
          type={fields[field]?.isSecret === true ? 'password' : 'text'}
          required={place === null && fields[field]?.isRequired === true}
          autoComplete="off"
          error={faultOfSetting(field)}
          value={settings[field] ?? ''}
          onChange={(event) => {
            const { value } = event.currentTarget;
            setValues({ ...values, settings: { ...settings, [field]: value } });
          }}
        />
      ))}
      <RouteFields routes={routes} onChange={(changed) => setValues({ ...values, routes: changed })} />
    </FormDialog>
  );
}

interface MadeSecretProps {
  readonly name: string;
  readonly secret: string;
  readonly onClose: () => void;
}

/** Signing secret of a webhook, which cannot be shown again. */
function MadeSecret({ name, secret, onClose }: MadeSecretProps) {
  return (
    <Dialog onClose={onClose} title={named`${name} is saved`} isShownOnce>
      <Stack>
        <Text size="sm">The receiver verifies messages with this secret. Tocsin cannot show it again.</Text>
        <CopyField label="Signing secret" value={secret} isShownOnce />
        <Group justify="flex-end">
          <Button onClick={onClose}>I have copied it</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

type Routes = Place['routes'];

function routesText(routes: Routes): string {
  return routes.map((route) => routeText(route, (id) => (id.startsWith('team_') ? 'one' : 'one service'))).join('; ');
}

/** Fields of the routes of a place. An incident that any of them takes is announced. */
function RouteFields({ routes, onChange }: { readonly routes: Routes; onChange(routes: Routes): void }) {
  const change = (index: number, changed: Partial<Routes[number]>): void =>
    onChange(routes.map((route, at) => (at === index ? { ...route, ...changed } : route)));
  return (
    <Stack gap="xs">
      <Text size="sm" fw={500}>
        Incidents that it is told of
      </Text>
      {routes.map(({ serviceId, teamId, atLeast }, index) => (
        <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="xs" key={index}>
          <ServicePicker
            label="Service"
            value={serviceId ?? undefined}
            onChange={(chosen) => change(index, { serviceId: chosen ?? null })}
          />
          <TeamPicker
            label="Team"
            placeholder="All teams"
            value={teamId}
            onChange={(chosen) => change(index, { teamId: chosen })}
          />
          <Choice
            label="Severity at least"
            placeholder="Any"
            clearLabel="Any severity"
            options={LEVELS.map((level) => ({ value: level, label: level }))}
            value={atLeast}
            onChange={(chosen) => change(index, { atLeast: LEVELS.find((level) => level === chosen) ?? null })}
          />
        </SimpleGrid>
      ))}
      <Group gap="xs">
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} />}
          onClick={() => onChange([...routes, { serviceId: null, teamId: null, atLeast: null }])}
        >
          Add others
        </Button>
        {routes.length > 1 && (
          <Button variant="subtle" size="xs" onClick={() => onChange(routes.slice(0, -1))}>
            Remove the last
          </Button>
        )}
      </Group>
    </Stack>
  );
}
