import { Group, Switch, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';

import { SHOWN_CHANNELS } from '#console/components/text/channel.tsx';
import { type ChannelPreference, CHANNEL_PREFERENCES, declarationOf } from '#modules/contacts/decide/channel.ts';
import { recordOf } from '#kernel/records.ts';

/** Contact of a member as a form holds it: no number is an empty text. */
export type ContactValues = { phone: string } & Record<ChannelPreference, boolean>;

export const NEW_CONTACT: ContactValues = { phone: '', ...recordOf(CHANNEL_PREFERENCES, () => true) };

export const CONTACT_LABELS: Record<keyof ContactValues, string> = {
  phone: 'Phone',
  smsEnabled: 'SMS',
  callEnabled: 'Phone call',
  pushEnabled: 'Push',
  emailEnabled: 'Mail',
};

const E164 = /^\+[1-9]\d{6,14}$/;

export const CONTACT_VALIDATION = {
  phone: (phone: string) =>
    toPhone(phone) === null || E164.test(toPhone(phone) ?? '')
      ? null
      : 'Include the country code, such as +31612345678',
};

/** Removes the separators that people write between digits; null for an empty text. */
export function toPhone(text: string): string | null {
  const phone = text.replaceAll(/[\s().-]/g, '');
  return phone === '' ? null : phone;
}

interface ContactFieldsProps<Values extends ContactValues> {
  readonly form: UseFormReturnType<Values>;
  /** Reason why the viewer cannot change the number; null if they can. */
  readonly phoneLockedBecause?: string | null;
}

export function ContactFields<Values extends ContactValues>({
  form,
  phoneLockedBecause = null,
}: ContactFieldsProps<Values>) {
  return (
    <>
      <TextInput
        {...form.getInputProps('phone')}
        label="Phone"
        description={phoneLockedBecause ?? 'For SMS and calls; empty: the number of their own, if they have given one'}
        placeholder="+31612345678"
        type="tel"
        autoComplete="off"
        disabled={phoneLockedBecause !== null}
      />
      <Group gap="0.5rem 1.25rem">
        {SHOWN_CHANNELS.map((channel) => {
          const { title, preference } = declarationOf(channel);
          if (preference === null) return null;
          return <Switch key={channel} {...form.getInputProps(preference, { type: 'checkbox' })} label={title} />;
        })}
      </Group>
    </>
  );
}
