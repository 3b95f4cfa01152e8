/** A volume of a container, as `source:target[:ro]` says it. */
interface Volume {
  readonly source: string;
  readonly target: string;
  readonly isReadOnly: boolean;
}

export function readVolume(text: string): Volume {
  const [, source = '', target = '', mode] = /^(.*?[^:]):(\/[^:]*)(?::(r[ow]))?$/s.exec(text) ?? [];
  return { source, target, isReadOnly: mode === 'ro' };
}

export function isVolumeName(source: string): boolean {
  return /^[A-Za-z0-9][\w.-]+$/.test(source);
}
