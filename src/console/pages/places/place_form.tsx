import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { type InputOf, invoke } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import { topicKey } from '#console/api/queries.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { faultsAtFields } from '#console/components/forms/field_faults.ts';
import { Choice } from '#console/components/forms/choice.tsx';
import { CopyField } from '#console/components/forms/copy_field.tsx';
import { Form } from '#console/components/forms/form.tsx';
import { SubmitButtons } from '#console/components/forms/submit_buttons.tsx';
import { named } from '#console/components/text/name.tsx';
import type { Place } from '#console/pages/places/place_texts.ts';
import { RouteFields } from '#console/pages/places/route_fields.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { keysOf } from '#kernel/keys_of.ts';
import { PLACE_KINDS, placeDeclarationOf, type PlaceKind } from '#modules/places/decide/place_kinds.ts';

type Settings = InputOf<'create_place'>['settings'];

const ALL = { serviceId: null, teamId: null, atLeast: null };

/** Dialog that adds a place, or changes one: its settings are then given whole or left as they are. */
export function PlaceForm({ place, onClose }: { readonly place: Place | null; readonly onClose: () => void }) {
  const { org } = useOrganization();
  const queryClient = useQueryClient();
  const [kind, setKind] = useState<PlaceKind>(place?.kind ?? 'slack');
  const [name, setName] = useState(place?.name ?? '');
  const [settings, setSettings] = useState<Settings>({});
  const [routes, setRoutes] = useState<Place['routes']>(place?.routes ?? [ALL]);
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
            ...(Object.keys(filled).length > 0 && { settings: filled }),
          }),
    async onSuccess({ signingSecret }) {
      await queryClient.invalidateQueries({ queryKey: topicKey(org.orgId, 'settings') });
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
    <Dialog onClose={onClose} title={place === null ? 'Add a place' : named`Change ${place.name}`} isWide>
      <Form
        error={saving.error}
        onSubmit={(event) => {
          event.preventDefault();
          saving.mutate();
        }}
      >
        <Stack>
          {place === null && (
            <Choice
              label="Kind"
              options={PLACE_KINDS.map((value) => ({ value, label: placeDeclarationOf(value).title }))}
              value={kind}
              onChange={(chosen) => {
                setKind(PLACE_KINDS.find((candidate) => candidate === chosen) ?? kind);
                setSettings({});
              }}
            />
          )}
          <TextInput
            label="Name"
            required
            maxLength={100}
            error={faults['name']}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
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
                setSettings((before) => ({ ...before, [field]: value }));
              }}
            />
          ))}
          <RouteFields routes={routes} onChange={setRoutes} />
          {saving.isError && <ErrorAlert title="Nothing was saved" error={saving.error} atFields={shown} />}
          <SubmitButtons label={place === null ? 'Add' : 'Save'} isPending={saving.isPending} onCancel={onClose} />
        </Stack>
      </Form>
    </Dialog>
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
        <CopyField label="Signing secret" value={secret} />
        <Group justify="flex-end">
          <Button onClick={onClose}>I have copied it</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
