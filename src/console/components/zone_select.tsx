import { Select } from '@mantine/core';

const ZONES = Intl.supportedValuesOf('timeZone');

interface ZoneSelectProps {
  readonly value: string;
  readonly onChange: (zone: string) => void;
  readonly description?: string;
  readonly error?: string | undefined;
}

/** A time zone by its IANA name. One that this browser does not know stays. */
export function ZoneSelect({ value, onChange, description, error }: ZoneSelectProps) {
  return (
    <Select
      label="Time zone"
      description={description}
      searchable
      selectFirstOptionOnChange
      data={ZONES.includes(value) ? ZONES : [value, ...ZONES]}
      value={value}
      onChange={(zone) => zone !== null && onChange(zone)}
      allowDeselect={false}
      limit={30}
      nothingFoundMessage="No zone has this name"
      error={error}
    />
  );
}
