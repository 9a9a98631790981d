declare module 'virtual:tabler/*' {
  import type { Icon } from '#console/components/icon.tsx';

  const icon: Icon;
  export default icon;
}
