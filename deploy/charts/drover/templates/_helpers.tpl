{{- define "drover.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- /* Lease, fence and aws-auth stand in kube-system, and so does the account that they name. */ -}}
{{- define "drover.namespace" -}}
{{- if ne .Release.Namespace "kube-system" -}}
{{- fail (printf "drover runs in kube-system, not in %s: run helm with --namespace kube-system" .Release.Namespace) -}}
{{- end -}}
kube-system
{{- end -}}

{{- define "drover.labels" -}}
app.kubernetes.io/name: drover-controller
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}
