package main

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"productform/internal/cli"
	"productform/internal/render"
	"productform/live/keys"
)

func newKeys() *cobra.Command {
	cmd := help(&cobra.Command{Use: "keys"})
	cmd.AddCommand(newKeysInit(), newKeysAdd(), newKeysRevoke(), newKeysList())
	return cmd
}

// addFolder adds --keys.
func addFolder(cmd *cobra.Command, folder *string) {
	*folder = "pfq-keys"
	cli.AddText(cmd, folder, "keys", "", "the name of a folder", "folder `DIR` with the keys")
}

func newKeysInit() *cobra.Command {
	var folder string
	url := "nats://127.0.0.1:4222"
	cmd := &cobra.Command{
		Use: "init",
		Short: "Create an authority, a certificate for the server, and keys for a manager, a client and a monitor, " +
			"and list their files",
		Args: arguments(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := keys.Init(folder, url); err != nil {
				return err
			}
			files, err := filepath.Glob(filepath.Join(folder, "*.key"))
			for _, f := range files {
				fmt.Fprintln(cmd.OutOrStdout(), f)
			}
			return err
		},
	}
	addFolder(cmd, &folder)
	cli.AddText(
		cmd, &url, "url", "", "a URL such as nats://cluster.example:4222",
		"`URL` at which the server is reached, for its certificate and the files of keys",
	)
	return cmd
}

func newKeysAdd() *cobra.Command {
	var folder string
	cmd := &cobra.Command{
		Use: "add ROLE NAME", Args: arguments("ROLE", "NAME"),
		Short: "Create a key for a manager, worker, client or monitor, and print the name of its file",
		RunE: func(cmd *cobra.Command, args []string) error {
			var roles []string
			for _, r := range keys.Roles() {
				roles = append(roles, string(r))
			}
			if err := cli.CheckWord("ROLE", args[0], roles); err != nil {
				return err
			}
			path, err := keys.Add(folder, keys.Role(args[0]), args[1])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), path)
			return err
		},
	}
	addFolder(cmd, &folder)
	return cmd
}

func newKeysRevoke() *cobra.Command {
	var folder string
	cmd := &cobra.Command{
		Use: "revoke NAME", Short: "Revoke a key permanently", Args: arguments("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error { return keys.Revoke(folder, args[0]) },
	}
	addFolder(cmd, &folder)
	return cmd
}

// A keyRow is a key in an answer.
type keyRow struct {
	Name    string `json:"name"`
	Role    string `json:"role"`
	Revoked bool   `json:"revoked"`
	Key     string `json:"key" title:"public key"`
}

func newKeysList() *cobra.Command {
	var folder string
	var f answerFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List the keys", Args: arguments(),
		RunE: func(cmd *cobra.Command, args []string) error {
			k, err := keys.Load(folder)
			if err != nil {
				return err
			}
			rows := []keyRow{}
			for _, u := range slices.Clone(k.Users) {
				rows = append(rows, keyRow{u.Name, string(u.Role), u.Revoked, u.Key})
			}
			return f.write(cmd, render.Answer{
				JSON:  rows,
				Lines: []render.Lines{{Of: rows}},
				Text: func(t *render.Text) {
					t.Table(rows, "name", "role", "revoked", "key")
				},
			})
		},
	}
	addFolder(cmd, &folder)
	f.add(cmd)
	return cmd
}
