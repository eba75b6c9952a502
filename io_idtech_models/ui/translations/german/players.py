"""German: whole players: in, out, made and played."""

TEXTS = {
    (
        "Actions for rows of the table, and their frames per second if they are others: LEGS_RUN=Trot, "
        "BOTH_DEATH1=Fall @ 20; for all others actions are found by their names"
    ): (
        "Aktionen für Zeilen der Tabelle, mit Frames pro Sekunde, falls andere: LEGS_RUN=Trot, BOTH_DEATH1=Fall @ "
        "20; für alle übrigen werden Aktionen nach ihren Namen gefunden"
    ),
    "Against the game's": "Entgegen der des Spiels",
    "Ahead in Blender's front view": "Zum Betrachter in Blenders Vorderansicht",
    "As in the game": "Wie im Spiel",
    "Away in Blender's front view": "Weg vom Betrachter in Blenders Vorderansicht",
    "Bring the coarser models along, hidden": "Auch die gröberen Modelle laden, ausgeblendet",
    "By Its Bones": "Nach ihren Knochen",
    "Choose a player of the games that the preferences of this extension name, and import it": (
        "Einen Player aus den Spielen wählen, die in den Einstellungen dieser Erweiterung stehen, und importieren"
    ),
    "Choose models of a game whose folder the preferences of this extension name, and import them": (
        "Modelle eines Spiels wählen, dessen Ordner in den Einstellungen dieser Erweiterung steht, und importieren"
    ),
    "Close Seams": "Nähte schließen",
    "Export Quake III Player": "Quake-III-Player exportieren",
    "Faces": "Blickt nach",
    "Fit to the Game": "An das Spiel anpassen",
    "Frames per Second": "Frames pro Sekunde",
    "Game units of a unit in the scene": "Spieleinheiten je Einheit der Szene",
    "Head": "Kopf",
    "How often actions are looked at": "Wie oft Aktionen abgetastet werden",
    "Import Quake III Player": "Quake-III-Player importieren",
    "Import Quake III Player from Game": "Quake-III-Player aus Spiel importieren",
    "Import a whole player: pick any file of its folder, or an archive that holds players": (
        "Einen ganzen Player importieren: eine beliebige Datei seines Ordners wählen, oder ein Archiv mit Playern"
    ),
    "Import from Game": "Aus Spiel importieren",
    "Import the player that was made, put together": "Den erzeugten Player zusammengesetzt importieren",
    "Import the whole player that the file is a part of, put together, with its animations": (
        "Den ganzen Player importieren, zu dem die Datei gehört, zusammengesetzt, mit seinen Animationen"
    ),
    "Keep Shader Names": "Shadernamen behalten",
    "Legs": "Beine",
    (
        "Let materials whose name is a path (models/players/x/skin) be shaders that the game has; else a picture "
        "is written for each material"
    ): (
        "Materialien, deren Name ein Pfad ist (models/players/x/skin), als Shader des Spiels nehmen; sonst wird "
        "für jedes Material ein Bild geschrieben"
    ),
    "How many triangles the parts have together, of each the same share; 0: all that there are": (
        "Wie viele Dreiecke die Teile zusammen haben, jedes den gleichen Anteil; 0: alle, die da sind"
    ),
    "Let the active player's legs and torso play animations of its table, each its own, as in the game": (
        "Beine und Torso des aktiven Players Animationen seiner Tabelle spielen lassen, jeder seine eigene, wie im "
        "Spiel"
    ),
    (
        "Let the edges at waist and neck stay with the tags, so that no gap opens between different animations of "
        "legs, torso and head"
    ): (
        "Die Kanten an Hüfte und Hals bei den Tags halten, damit zwischen verschiedenen Animationen von Beinen, "
        "Torso und Kopf keine Lücke entsteht"
    ),
    "Let the scene play from the first frame to the last": "Die Szene vom ersten zum letzten Frame spielen lassen",
    "Made anew, smooth over all faces": "Neu berechnet, glatt über alle Flächen",
    "Keep in Place": "Am Ort halten",
    "Let walks and runs that go along stay where they begin: games move players by themselves": (
        "Schritte und Läufe, die vorwärts führen, am Anfang bleiben lassen: Spiele bewegen Spieler selbst"
    ),
    "Make Quake III Player": "Quake-III-Player erzeugen",
    "Make an action of two as Enemy Territory mixes them on legs and torso; it is never exported": (
        "Aus zwei Aktionen eine machen, wie Enemy Territory sie auf Beinen und Torso mischt; sie wird nie exportiert"
    ),
    "Make the character as high as players are (56 units), with its feet on the ground": (
        "Die Figur so hoch machen wie Player sind (56 Einheiten), mit den Füßen auf dem Boden"
    ),
    "Make the three models, skins and table of animations of a player, of one rigged character and its actions": (
        "Die drei Modelle, Skins und Animationstabelle eines Players aus einer geriggten Figur und ihren Aktionen "
        "erzeugen"
    ),
    "Open the Result": "Ergebnis öffnen",
    "Percentages of the triangles (50, 25) of levels made anew; empty: those in the scene": (
        "Prozente der Dreiecke (50, 25) neu erzeugter Stufen; leer: die der Szene"
    ),
    "Percentages of triangles in coarser models (50, 25), which games draw from afar; empty: none": (
        "Prozente der Dreiecke gröberer Modelle (50, 25), die Spiele von fern zeigen; leer: keine"
    ),
    "Pitch": "Neigung",
    "Play Animation": "Animation abspielen",
    "Player": "Player",
    "Preview Torso": "Torso-Vorschau",
    "Quake III Player": "Quake-III-Player",
    "Quake III Player (.md3, .pk3)": "Quake-III-Player (.md3, .pk3)",
    "Quake III Player (folder, .pk3)": "Quake-III-Player (Ordner, .pk3)",
    "Quake III Player from Game...": "Quake-III-Player aus Spiel...",
    "What the player is called, whose folder is written; empty: as it came": (
        "Wie der Player heißt, dessen Ordner geschrieben wird; leer: wie er kam"
    ),
    "Write what all parts wear now as a skin of this name, and leave the one that was worn as it was": (
        "Was alle Teile jetzt tragen als Skin dieses Namens schreiben und den bisherigen lassen, wie er war"
    ),
    "Right Hand": "Rechte Hand",
    "The action that the legs play": "Die Aktion, die die Beine spielen",
    "The action that the torso plays": "Die Aktion, die der Torso spielt",
    "The animation to show at first (LEGS_RUN, ...); empty: all frames": (
        "Die Animation, die zuerst gezeigt wird (LEGS_RUN, ...); leer: alle Frames"
    ),
    "The bone that holds the weapon; empty: by the bones' names": (
        "Der Knochen, der die Waffe hält; leer: nach den Namen der Knochen"
    ),
    "The bone that the head begins with (neck, head); empty: by the bones' names": (
        "Der Knochen, mit dem der Kopf beginnt (neck, head); leer: nach den Namen der Knochen"
    ),
    "The bone that the torso begins with (spine, waist); empty: by the bones' names": (
        "Der Knochen, mit dem der Torso beginnt (spine, waist); leer: nach den Namen der Knochen"
    ),
    "The player's folder, called as the player, or a .pk3": "Der Ordner des Players, so benannt wie er, oder eine .pk3",
    "The player's folder, or a .pk3": "Der Ordner des Players, oder eine .pk3",
    "The same of the torso (TORSO_ATTACK, ...)": "Dasselbe für den Torso (TORSO_ATTACK, ...)",
    "The weapon to hold (machinegun, rocketl, ...), by its folder's name; empty: none": (
        "Die Waffe in der Hand (machinegun, rocketl, ...), nach dem Namen ihres Ordners; leer: keine"
    ),
    "Those of the file where nothing was changed, else those that Blender shows": (
        "Die der Datei, wo nichts geändert wurde, sonst die, die Blender zeigt"
    ),
    "Those that Blender shows, everywhere": "Überall die, die Blender zeigt",
    "Torso": "Torso",
    "Weapon": "Waffe",
    "What is left and right says it; -Y where nothing does": "Wie es links und rechts zeigen; -Y, wo nichts es zeigt",
    "What the legs do": "Was die Beine tun",
    "What the player is called; empty: as the folder or the .pk3": (
        "Wie der Player heißt; leer: wie der Ordner oder die .pk3"
    ),
    "What the torso and the head do": "Was Torso und Kopf tun",
    "Where the character looks in the scene": "Wohin die Figur in der Szene blickt",
    "Where the player aims, degrees down": "Wohin der Player zielt, in Grad nach unten",
    "Where the player aims, degrees to the left": "Wohin der Player zielt, in Grad nach links",
    "Which player to import": "Welcher Player importiert wird",
    "Which player, by name, where an archive or a folder of a game holds several": (
        "Welcher Player, nach Namen, wo ein Archiv oder der Ordner eines Spiels mehrere enthält"
    ),
    "Whole Player": "Ganzer Player",
    "Write the player of the active object into a folder or a .pk3, which keeps all else that it has": (
        "Den Player des aktiven Objekts in einen Ordner oder eine .pk3 schreiben, die alles andere behält"
    ),
    "Yaw": "Gieren",
}
