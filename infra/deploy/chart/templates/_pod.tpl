{{/* What all pods have in common: (dict "root" . "component" "api"). */}}
{{- define "tocsin.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "tocsin.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* Only what creates the first owner knows the password. */}}
{{- define "tocsin.isOfFirstOwner" -}}
{{- if and (hasPrefix "FIRST_OWNER_" .name) .root.Values.migrate.enabled (ne .component "migrate") -}}true{{- end -}}
{{- end -}}

{{/* Secrets are read from files. Migrations go past a pooler, which need not even run yet. */}}
{{- define "tocsin.env" -}}
{{- $values := .root.Values -}}
{{- $secrets := $values.secrets -}}
{{- $isMigration := eq .component "migrate" -}}
- name: BASE_URL
  value: {{ $values.baseUrl | quote }}
- name: HOST
  value: {{ $values.listenAddress | quote }}
- name: METRICS_HOST
  value: {{ $values.listenAddress | quote }}
- name: METRICS_PORT
  value: "9090"
- name: DATA_DIR
  value: /data
{{- range $name, $value := $values.settings }}
{{- if not (include "tocsin.isOfFirstOwner" (dict "root" $.root "component" $.component "name" $name)) }}
- name: {{ $name }}
  value: {{ include "tocsin.text" $value | quote }}
{{- end }}
{{- end }}
{{- range $name, $_ := $secrets }}
{{- if and $isMigration (hasKey $secrets "DIRECT_DATABASE_URL") (eq $name "DATABASE_URL") }}
- name: DATABASE_URL_FILE
  value: /run/secrets/tocsin/DIRECT_DATABASE_URL
{{- else if not (or (and $isMigration (eq $name "DIRECT_DATABASE_URL")) (include "tocsin.isOfFirstOwner" (dict "root" $.root "component" $.component "name" $name))) }}
- name: {{ $name }}_FILE
  value: /run/secrets/tocsin/{{ $name }}
{{- end }}
{{- end }}
{{- if $values.certificateAuthority }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/tocsin/ca.crt
{{- end }}
{{- end -}}

{{/* Helm reads whole numbers as fractions: 500000 must not become 5e+05. */}}
{{- define "tocsin.text" -}}
{{- if kindIs "float64" . -}}{{ printf "%.0f" . }}{{- else -}}{{ . }}{{- end -}}
{{- end -}}

{{- define "tocsin.volumeMounts" -}}
- { name: tmp, mountPath: /tmp }
- { name: data, mountPath: /data }
- { name: secrets, mountPath: /run/secrets/tocsin, readOnly: true }
{{- if .root.Values.certificateAuthority }}
- { name: certificate-authority, mountPath: /etc/tocsin, readOnly: true }
{{- end }}
{{- end -}}

{{- define "tocsin.volumes" -}}
{{- $values := .root.Values -}}
- name: tmp
  emptyDir: { sizeLimit: 256Mi }
{{- if not (and (eq .component "api") $values.api.spool.claim) }}
- name: data
  emptyDir: { sizeLimit: {{ eq .component "api" | ternary $values.api.spool.size "64Mi" }} }
{{- end }}
- name: secrets
  projected:
    defaultMode: 288 # 0440
    sources:
{{- range $name, $from := $values.secrets }}
{{- if not (include "tocsin.isOfFirstOwner" (dict "root" $.root "component" $.component "name" $name)) }}
      - secret:
          name: {{ $from.name }}
          items: [{ key: {{ $from.key | quote }}, path: {{ $name }} }]
{{- end }}
{{- end }}
{{- with $values.certificateAuthority }}
- name: certificate-authority
  configMap:
    name: {{ .configMap }}
    items: [{ key: {{ .key | quote }}, path: ca.crt }]
{{- end }}
{{- end -}}

{{- define "tocsin.placement" -}}
{{- $values := .root.Values -}}
{{- with $values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}

{{/* A pod template of a long-running process. */}}
{{- define "tocsin.podTemplate" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
{{- $own := index $values .component -}}
metadata:
  labels:
    {{- include "tocsin.labels" . | nindent 4 }}
    {{- with $values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with $values.podAnnotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "tocsin.serviceAccount" $root }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ $values.terminationGracePeriodSeconds }}
  securityContext: {{- include "tocsin.podSecurity" . | nindent 4 }}
  {{- with $values.imagePullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  {{- with include "tocsin.placement" . | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- with $values.spread.topologyKeys }}
  topologySpreadConstraints:
    {{- range . }}
    - topologyKey: {{ . }}
      maxSkew: 1
      whenUnsatisfiable: {{ $values.spread.whenUnsatisfiable }}
      labelSelector:
        matchLabels:
          {{- include "tocsin.selector" $root | nindent 10 }}
          app.kubernetes.io/component: {{ $.component }}
    {{- end }}
  {{- end }}
  containers:
    - name: {{ .component }}
      image: {{ include "tocsin.image" $root }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      args: [{{ .component }}]
      env: {{- include "tocsin.env" . | nindent 8 }}
      ports:
        {{- if eq .component "api" }}
        - { name: http, containerPort: 3000, protocol: TCP }
        {{- range include "tocsin.furtherPorts" $root | trim | splitList "\n" | compact }}
        {{- $port := splitList " " . }}
        - { name: {{ index $port 0 }}, containerPort: {{ index $port 1 }}, protocol: {{ index $port 2 }} }
        {{- end }}
        {{- end }}
        - { name: metrics, containerPort: 9090, protocol: TCP }
      # Stores that are away at the start are waited for, for 300 s.
      startupProbe:
        httpGet: { path: /livez, port: metrics }
        periodSeconds: 2
        timeoutSeconds: 5
        failureThreshold: 165
      livenessProbe:
        httpGet: { path: /livez, port: metrics }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /readyz, port: metrics }
        periodSeconds: 5
        timeoutSeconds: 5
        failureThreshold: 2
      {{- if gt (int $values.preStopSeconds) 0 }}
      lifecycle:
        preStop:
          exec: { command: [sleep, {{ $values.preStopSeconds | quote }}] }
      {{- end }}
      resources: {{- toYaml $own.resources | nindent 8 }}
      securityContext: {{- include "tocsin.containerSecurity" . | nindent 8 }}
      volumeMounts: {{- include "tocsin.volumeMounts" . | nindent 8 }}
  volumes: {{- include "tocsin.volumes" . | nindent 4 }}
{{- end -}}

{{/* A new pod is ready before an old one stops. */}}
{{- define "tocsin.rolling" -}}
strategy:
  type: RollingUpdate
  rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
{{- end -}}
