/** The labels of an alert by which a maintenance may be for it: those its tool calls labels, and its plain details. */
export function labelsOfDetails(details: Readonly<Record<string, unknown>>): Record<string, string> {
  const labels: Record<string, string> = {};
  const add = (record: object): void => {
    for (const [name, value] of Object.entries(record)) {
      if (typeof value === 'string') labels[name] = value;
      else if (typeof value === 'number' || typeof value === 'boolean') labels[name] = String(value);
    }
  };
  add(details);
  for (const name of ['custom_details', 'details', 'labels']) {
    const inner = Object.hasOwn(details, name) ? details[name] : null;
    if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) add(inner);
  }
  return labels;
}

/** The same of the incident that it opened; none of any other. */
export function labelsOfAlert({
  kind,
  details,
}: {
  readonly kind: string;
  readonly details: Readonly<Record<string, unknown>>;
}): Record<string, string> {
  const said = kind === 'alert' ? details['said'] : null;
  return typeof said === 'object' && said !== null ? labelsOfDetails({ ...said }) : {};
}
