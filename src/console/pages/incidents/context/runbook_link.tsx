/** Link to the instructions of a rule, which open beside the console. */
export function RunbookLink({ address }: { readonly address: string }) {
  return (
    <a href={address} title={address} target="_blank" rel="noopener noreferrer">
      Runbook
    </a>
  );
}
