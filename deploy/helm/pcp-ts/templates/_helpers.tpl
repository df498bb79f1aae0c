{{- define "pcp-ts.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "pcp-ts.selector" -}}
app.kubernetes.io/name: pcp-ts
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "pcp-ts.labels" -}}
{{ include "pcp-ts.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "pcp-ts.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "pcp-ts.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "pcp-ts.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 0
fsGroup: 0
seccompProfile:
  type: RuntimeDefault
{{- end -}}
